import type { LookupAddress } from 'node:dns'
import t from 'tap'
import {
  createResolver,
  type Lookup,
} from '../../../../packages/webhooks/src/outbound/http/resolver.ts'

const FOUND: LookupAddress[] = [{ address: '192.0.2.1', family: 4 }]
const NO_ANSWER = new Error('no answer')

/** A system resolver whose lookups, and name servers whose answers, come when the test says so. */
function held() {
  const lookups = new Map<string, (error: Error | null) => void>()
  const questions = new Map<string, (answered: boolean) => void>()
  const started: string[] = []
  const asked: string[] = []
  const lookup: Lookup = (hostname, _options, callback) => {
    started.push(hostname)
    lookups.set(hostname, (error) => callback(error, FOUND))
  }
  const answers = (hostname: string) => {
    asked.push(hostname)
    return new Promise<boolean>((answer) => questions.set(hostname, answer))
  }
  const end = async (hostname: string, error: Error | null = null) => {
    await turn()
    lookups.get(hostname)!(error)
    await turn()
  }
  const answer = async (hostname: string, answered: boolean) => {
    await turn()
    questions.get(hostname)!(answered)
    await turn()
  }
  return { started, asked, lookup, answers, end, answer }
}

const turn = () => new Promise(setImmediate)

t.test('concurrent lookups of one name share one lookup', async (t) => {
  const { lookup, answers, started, end } = held()
  const resolve = createResolver(60_000, lookup, answers)
  const both = [resolve('a.test'), resolve('a.test')]
  await end('a.test')
  t.same(await Promise.all(both), [FOUND, FOUND])
  t.same(started, ['a.test'])
})

t.test('a name is looked up anew for each later attempt', async (t) => {
  const { lookup, answers, started, end } = held()
  const resolve = createResolver(60_000, lookup, answers)
  for (let i = 0; i < 2; i++) {
    const answer = resolve('a.test')
    await end('a.test')
    await answer
  }
  t.equal(started.length, 2)
})

t.test('a lookup that is the only one sends no query to name servers', async (t) => {
  const { lookup, answers, asked, end } = held()
  const answer = createResolver(60_000, lookup, answers)('a.test')
  await end('a.test')
  t.same(await answer, FOUND)
  t.same(asked, [])
})

t.test('beside a lookup, names are looked up whose name servers answer; others wait', async (t) => {
  const { lookup, answers, answer, started, end } = held()
  const resolve = createResolver(60_000, lookup, answers)
  const found = ['dead1', 'dead2', 'live1', 'dead3', 'live2'].map((name) => resolve(name))
  for (const name of ['live1', 'live2']) await answer(name, true)
  for (const name of ['dead2', 'dead3']) await answer(name, false)
  t.same(started, ['dead1', 'live1', 'live2'])
  await end('live2')
  await end('live1')
  t.equal(started.length, 3, 'they do not pass on what they do not hold')

  const dead = t.rejects(found[0]!, NO_ANSWER)
  await end('dead1', NO_ANSWER)
  await dead
  t.same(started.slice(3), ['dead2'], 'one at a time')
  await end('dead2')
  t.same(started.slice(4), ['dead3'])
  await end('dead3')
  t.same(await Promise.all(found.slice(1)), [FOUND, FOUND, FOUND, FOUND])
})

t.test('a late answer of a name server does not start a second lookup', async (t) => {
  const { lookup, answers, answer, started, end } = held()
  const resolve = createResolver(60_000, lookup, answers)
  const both = [resolve('a.test'), resolve('b.test')]
  await end('a.test')
  await answer('b.test', true)
  await end('b.test')
  await Promise.all(both)
  t.same(started, ['a.test', 'b.test'])
  const again = resolve('c.test')
  await end('c.test')
  await again
})

t.test('a lookup is not made if no attempt waits for it any longer', async (t) => {
  let time = 0
  const { lookup, answers, started, end } = held()
  const resolve = createResolver(10_000, lookup, answers, () => time)
  const first = resolve('a.test')
  const late = t.rejects(resolve('b.test'), { code: 'ETIMEDOUT' })
  await turn()
  time = 10_000
  await end('a.test')
  await Promise.all([first, late])
  t.notOk(started.includes('b.test'))
})

t.test('an attempt that joins an older one has its own time', async (t) => {
  let time = 0
  const { lookup, answers, answer, asked, started, end } = held()
  const resolve = createResolver(10_000, lookup, answers, () => time)
  const dead = resolve('dead.test')
  const first = resolve('back.test')
  await answer('back.test', false)
  time = 9999
  const second = resolve('back.test')
  t.same(asked, ['back.test', 'back.test'], 'the name servers are asked for each attempt')
  time = 12_000
  await answer('back.test', true)
  await end('back.test')
  t.same(await Promise.all([first, second]), [FOUND, FOUND])

  const third = resolve('c.test')
  time = 21_999
  await end('dead.test')
  await end('c.test')
  t.same(await Promise.all([dead, third]), [FOUND, FOUND])
  t.same(started, ['dead.test', 'back.test', 'c.test'])
})
