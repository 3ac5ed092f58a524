import type { LookupAddress } from 'node:dns'
import t from 'tap'
import { fairResolver, type Lookup } from '../../../packages/webhooks/src/outbound/resolver.ts'

const FOUND: LookupAddress[] = [{ address: '192.0.2.1', family: 4 }]

/** A system resolver whose lookups end when the test says so. */
function heldResolver() {
  const held = new Map<string, (error: Error | null) => void>()
  const started: string[] = []
  const lookup: Lookup = (hostname, _options, callback) => {
    started.push(hostname)
    held.set(hostname, (error) => callback(error, FOUND))
  }
  const end = async (hostname: string, error: Error | null = null) => {
    await turn()
    held.get(hostname)!(error)
    await turn()
  }
  return { started, lookup, end }
}

const turn = () => new Promise(setImmediate)

t.test('lookups of one name at the same time are one', async (t) => {
  const { lookup, started, end } = heldResolver()
  const resolve = fairResolver(1000, lookup)
  const both = [resolve('a.test'), resolve('a.test')]
  await end('a.test')
  t.same(await Promise.all(both), [FOUND, FOUND])
  t.same(started, ['a.test'])
})

t.test('each later lookup asks anew', async (t) => {
  const { lookup, started, end } = heldResolver()
  const resolve = fairResolver(1000, lookup)
  for (let i = 0; i < 2; i++) {
    const answer = resolve('a.test')
    await end('a.test')
    await answer
  }
  t.equal(started.length, 2)
})

t.test(
  'names that have not resolved yet take two threads together; those that have take any',
  async (t) => {
    const { lookup, started, end } = heldResolver()
    const resolve = fairResolver(60_000, lookup)
    const first = resolve('good.test')
    await end('good.test')
    await first

    const slow = ['dead1.test', 'dead2.test', 'dead3.test'].map((name) => resolve(name))
    const good = resolve('good.test')
    await turn()
    t.same(started, ['good.test', 'good.test', 'dead1.test', 'dead2.test'])
    await end('good.test')
    t.same(await good, FOUND)

    const dead = t.rejects(slow[0]!, { message: 'no answer' })
    await end('dead1.test', new Error('no answer'))
    await dead
    t.equal(started.at(-1), 'dead3.test', 'the next waits for its turn')
    await end('dead2.test')
    await end('dead3.test')
    t.same(await Promise.all(slow.slice(1)), [FOUND, FOUND])
  },
)

t.test('a name that stops resolving is one of the slow ones again', async (t) => {
  const { lookup, started, end } = heldResolver()
  const resolve = fairResolver(60_000, lookup)
  for (const error of [null, new Error('gone')]) {
    const answer = resolve('a.test')
    answer.catch(() => {})
    await end('a.test', error)
  }
  const others = [resolve('b.test'), resolve('c.test'), resolve('a.test')]
  await turn()
  t.same(started.slice(2), ['b.test', 'c.test'])
  for (const name of ['b.test', 'c.test', 'a.test']) await end(name)
  await Promise.all(others)
})

t.test('a lookup that waited for its turn beyond the deadline is not made', async (t) => {
  const { lookup, started, end } = heldResolver()
  const resolve = fairResolver(0.001, lookup)
  const [first, second, third] = ['a.test', 'b.test', 'c.test'].map((name) => resolve(name))
  const late = t.rejects(third!, { code: 'ETIMEDOUT' })
  await end('a.test')
  await late
  t.notOk(started.includes('c.test'))
  await end('b.test')
  await Promise.all([first, second])
})
