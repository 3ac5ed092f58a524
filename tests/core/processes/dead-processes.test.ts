import t from 'tap'
import { DeadProcesses } from '../../../packages/core/src/processes/dead-processes.ts'

/** A process that sees others without their lock, at times of its own. */
function watching() {
  let nowMs = 0
  let rows: { id: string; isUnlocked: boolean }[] = []
  let statements = 0
  let tell: (payload: string, fromHere: boolean) => void
  let answered = () => {}
  let connected = () => {}
  const notifications = {
    query: async () => {
      statements++
      const answer = { rows, rowCount: rows.length }
      answered()
      return answer
    },
    listen: (_channel: string, listener: typeof tell) => void (tell = listener),
    onConnect: (listener: () => void) => void (connected = listener),
  }
  const dead = new DeadProcesses('own', notifications, () => nowMs)
  return {
    dead,
    /** Looks for the dead: these have no lock, and those do. */
    at: (ms: number, unlocked: string[], locked: string[] = []) => {
      nowMs = ms
      rows = [
        ...unlocked.map((id) => ({ id, isUnlocked: true })),
        ...locked.map((id) => ({ id, isUnlocked: false })),
      ]
      return dead.find()
    },
    statements: () => statements,
    lockTaken: (id: string, { fromHere = false } = {}) => tell(id, fromHere),
    connected: () => connected(),
    whileAnswering: (run: () => void) => (answered = run),
  }
}

t.test('a process is dead when it has been without its lock for 2.4 s', async (t) => {
  const { at, dead } = watching()
  t.strictSame(await at(0, [], ['a']), [])
  t.equal(dead.findAgainInMs, undefined)
  t.strictSame(await at(1000, ['a']), [])
  t.equal(dead.findAgainInMs, 2400, 'the next check can come just then')
  t.strictSame(await at(2000, ['a', 'b']), [])
  t.equal(dead.findAgainInMs, 1400)
  t.strictSame(await at(3400, ['a', 'b']), ['a'])
  t.equal(dead.findAgainInMs, 1000, 'of the other')
  t.strictSame(await at(4400, ['b']), ['b'])
  t.equal(dead.findAgainInMs, undefined)
})

t.test('a process that has taken its lock again is alive', async (t) => {
  const { at, dead } = watching()
  await at(0, ['a'])
  t.strictSame(await at(2000, [], ['a']), [])
  t.equal(dead.findAgainInMs, undefined)
  t.strictSame(await at(2500, ['a']), [], 'and the time begins anew')
  t.equal(dead.findAgainInMs, 2400)
})

t.test('a process that is alone looks for others every 8 s', async (t) => {
  const { at, statements } = watching()
  await at(0, [])
  await at(2000, ['a'])
  await at(7999, ['a'])
  t.equal(statements(), 1)
  await at(8000, ['a'])
  t.equal(statements(), 2)
  t.strictSame(await at(10_400, ['a']), ['a'])
})

t.test('a process that is not alone looks at each check', async (t) => {
  const { at, statements } = watching()
  await at(0, [], ['a'])
  await at(2000, [], ['a'])
  await at(4000, [])
  t.equal(statements(), 3)
})

t.test('a process that is notified of another looks at its next check', async (t) => {
  const { at, statements, lockTaken, whileAnswering, connected } = watching()
  await at(0, [])
  lockTaken('own', { fromHere: true })
  await at(2000, [])
  t.equal(statements(), 1, 'not for its own lock')
  lockTaken('a')
  await at(4000, [], ['a'])
  t.equal(statements(), 2)

  whileAnswering(() => lockTaken('b'))
  await at(6000, [])
  whileAnswering(() => {})
  await at(8000, [])
  t.equal(statements(), 4, 'also where the other wrote its row after it was looked for')
  await at(10_000, [])
  t.equal(statements(), 4)
  connected()
  await at(12_000, [])
  t.equal(statements(), 5, 'notifications are lost with the connection')
})

t.test('after an outage the others have 6 s to come back', async (t) => {
  const { at, dead, connected } = watching()
  await at(0, ['a'])
  connected()
  t.strictSame(await at(1000, ['a']), [], 'its time begins anew')
  t.equal(dead.findAgainInMs, 5000)
  t.strictSame(await at(5000, ['a', 'b']), [])
  t.strictSame(await at(6000, ['a', 'b']), ['a'])
  t.strictSame(await at(7400, ['b']), ['b'])
})
