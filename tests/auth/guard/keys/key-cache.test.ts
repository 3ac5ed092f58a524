import t from 'tap'
import { BoundedMap } from '../../../../packages/auth/src/guard/bounded-map.ts'
import {
  createCachedKey,
  ForNow,
  isFailure,
  KeyCache,
  type LookupResult,
} from '../../../../packages/auth/src/guard/keys/key-cache.ts'
import { TokenBucket } from '../../../../packages/auth/src/guard/keys/token-bucket.ts'

const valid = createCachedKey({
  userId: 'u',
  scopes: [],
  bootstrap: false,
  keyId: 'k',
  tenant: null,
})
const PRESENTED = { text: 'key', format: 'wellFormed' } as const
const revoked: LookupResult = { verdict: 'revoked', keyId: 'k' }

/** A lookup whose answers the test gives one by one. */
function pendingLookUps() {
  const waiting: ((result: LookupResult | ForNow) => void)[] = []
  const keyCache = new KeyCache(
    () =>
      new Promise((resolve) => {
        waiting.push(resolve)
      }),
  )
  return { keyCache, waiting }
}

t.test('a lookup that began before a revocation is repeated and not cached', async (t) => {
  const { keyCache, waiting } = pendingLookUps()
  const result = keyCache.find('d', PRESENTED)
  keyCache.forget(['d'])
  waiting.shift()?.(valid)
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(keyCache.validKey('d'), undefined)
  t.equal(waiting.length, 1, 'it is read once more')
  waiting.shift()?.(revoked)
  t.equal(await result, revoked)
  t.equal(keyCache.validKey('d'), undefined)
})

t.test('a change of another key does not repeat a lookup', async (t) => {
  const { keyCache, waiting } = pendingLookUps()
  const result = keyCache.find('d', PRESENTED)
  keyCache.forget(['e'])
  waiting.shift()?.(valid)
  t.equal(await result, valid)
  t.equal(keyCache.validKey('d'), valid)
})

t.test(
  'after a gap in the changes the cache is emptied, and lookups under way are repeated',
  async (t) => {
    const { keyCache, waiting } = pendingLookUps()
    keyCache.remember('e', valid)
    const result = keyCache.find('d', PRESENTED)
    keyCache.forgetAll()
    waiting.shift()?.(valid)
    await new Promise((resolve) => setImmediate(resolve))
    waiting.shift()?.(revoked)
    t.ok(isFailure(await result))
    t.equal(keyCache.validKey('e'), undefined)
  },
)

t.test('no result about a key that open transactions have changed is remembered', async (t) => {
  let lookups = 0
  const keyCache = new KeyCache(async () => {
    lookups++
    return revoked
  })
  const find = async () => {
    t.equal(await keyCache.find('busy', PRESENTED), revoked)
    return lookups
  }
  keyCache.beginChange(['busy'])
  keyCache.beginChange(['busy'])
  t.equal(await find(), 1)
  t.equal(await find(), 2)
  keyCache.endChange(['busy'])
  t.equal(await find(), 3)
  keyCache.endChange(['busy'])
  t.equal(await find(), 4)
  t.equal(await find(), 4, 'it is remembered again')
})

t.test('a result for now answers those that wait for it, and is not remembered', async (t) => {
  const { keyCache, waiting } = pendingLookUps()
  const [one, other] = [keyCache.find('d', PRESENTED), keyCache.find('d', PRESENTED)]
  waiting.shift()?.(new ForNow(valid))
  t.same([await one, await other], [valid, valid])
  t.equal(waiting.length, 0)
  t.equal(keyCache.validKey('d'), undefined)
})

t.test('a lookup that failed is not cached', async (t) => {
  let asked = 0
  const keyCache = new KeyCache(async () => {
    if (asked++ === 0) throw new Error('away')
    return valid
  })
  await t.rejects(keyCache.find('d', PRESENTED), { message: 'away' })
  t.equal(await keyCache.find('d', PRESENTED), valid)
})

t.test('a bounded map forgets what was not asked for lately', (t) => {
  const map = new BoundedMap<number>(10)
  map.set('used', 1)
  for (let i = 0; i < 1000; i++) {
    map.set(`k${i}`, i)
    t.equal(map.get('used'), 1)
    t.ok(map.size <= 10)
  }
  t.equal(map.get('k0'), undefined)
  t.equal(map.get('k999'), 999)
  map.set('k999', 0)
  t.equal(map.get('k999'), 0)
  map.delete('used')
  t.equal(map.get('used'), undefined)
  map.clear()
  t.equal(map.size, 0)
  t.end()
})

t.test('the budget of lookups refills with time, and by lookups of valid keys', (t) => {
  const budget = new TokenBucket(3, 10, 0)
  t.same(
    [1, 2, 3, 4].map(() => budget.take(0)),
    [true, true, true, false],
  )
  t.equal(budget.take(99), false)
  t.equal(budget.take(100), true)
  t.equal(budget.take(100), false)
  budget.refund()
  t.equal(budget.take(100), true)
  t.same(
    [1, 2, 3, 4].map(() => budget.take(1_000_000)),
    [true, true, true, false],
  )
  t.end()
})
