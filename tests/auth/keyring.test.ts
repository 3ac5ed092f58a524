import t from 'tap'
import { BoundedMap } from '../../packages/auth/src/guard/keys/bounded-map.ts'
import { isRejection, Keyring, type Finding } from '../../packages/auth/src/guard/keys/key-cache.ts'
import { knownKey } from '../../packages/auth/src/guard/keys/cached-key.ts'
import { MissBudget } from '../../packages/auth/src/guard/keys/token-bucket.ts'

const valid = knownKey({ userId: 'u', scopes: [], bootstrap: false, keyId: 'k' })
const revoked: Finding = { verdict: 'revoked', keyId: 'k' }

/** A lookup whose answers the test gives one by one. */
function pendingLookUps() {
  const waiting: ((finding: Finding) => void)[] = []
  const keyring = new Keyring(
    () =>
      new Promise((resolve) => {
        waiting.push(resolve)
      }),
  )
  return { keyring, waiting }
}

t.test('what was read before a revocation is neither believed nor remembered', async (t) => {
  const { keyring, waiting } = pendingLookUps()
  const finding = keyring.find('d', 'minted')
  keyring.drop(['d'])
  waiting.shift()?.(valid)
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(keyring.known('d'), undefined)
  t.equal(waiting.length, 1, 'it is read once more')
  waiting.shift()?.(revoked)
  t.equal(await finding, revoked)
  t.equal(keyring.known('d'), undefined)
})

t.test('a change of another key disturbs nobody', async (t) => {
  const { keyring, waiting } = pendingLookUps()
  const finding = keyring.find('d', 'minted')
  keyring.drop(['e'])
  waiting.shift()?.(valid)
  t.equal(await finding, valid)
  t.equal(keyring.known('d'), valid)
})

t.test('after a gap everything is forgotten, and read again if under way', async (t) => {
  const { keyring, waiting } = pendingLookUps()
  keyring.remember('e', valid)
  const finding = keyring.find('d', 'minted')
  keyring.clear()
  waiting.shift()?.(valid)
  await new Promise((resolve) => setImmediate(resolve))
  waiting.shift()?.(revoked)
  t.ok(isRejection(await finding))
  t.equal(keyring.known('e'), undefined)
})

t.test('a lookup that failed is not remembered', async (t) => {
  let asked = 0
  const keyring = new Keyring(async () => {
    if (asked++ === 0) throw new Error('away')
    return valid
  })
  await t.rejects(keyring.find('d', 'minted'), { message: 'away' })
  t.equal(await keyring.find('d', 'minted'), valid)
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

t.test('the budget of misses refills with time, and by misses that were none', (t) => {
  const budget = new MissBudget(3, 10, 0)
  t.same(
    [1, 2, 3, 4].map(() => budget.take(0)),
    [true, true, true, false],
  )
  t.equal(budget.take(99), false)
  t.equal(budget.take(100), true)
  t.equal(budget.take(100), false)
  budget.giveBack()
  t.equal(budget.take(100), true)
  t.same(
    [1, 2, 3, 4].map(() => budget.take(1_000_000)),
    [true, true, true, false],
  )
  t.end()
})
