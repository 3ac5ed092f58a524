import t from 'tap'
import { DeadProcesses } from '../../../packages/core/src/processes/dead-processes.ts'

/** A process that sees others without their lock, at times of its own. */
function watching() {
  let nowMs = 0
  let rows: { id: string; isUnlocked: boolean }[] = []
  let connected = () => {}
  const notifications = {
    query: async () => ({ rows, rowCount: rows.length }),
    session: undefined,
    onConnect: (listener: () => void) => void (connected = listener),
  }
  const dead = new DeadProcesses('own', notifications, () => nowMs)
  return {
    dead,
    connected: () => connected(),
    /** Looks for the dead: these have no lock, and those do. */
    at: (ms: number, unlocked: string[], locked: string[] = []) => {
      nowMs = ms
      rows = [
        ...unlocked.map((id) => ({ id, isUnlocked: true })),
        ...locked.map((id) => ({ id, isUnlocked: false })),
      ]
      return dead.find()
    },
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

t.test('after an outage the others have 8 s to come back', async (t) => {
  const { at, dead, connected } = watching()
  connected()
  await at(0, ['a'])
  t.equal(dead.findAgainInMs, 2400, 'its first connection is no outage')
  connected()
  t.strictSame(await at(1000, ['a']), [], 'its time begins anew')
  t.equal(dead.findAgainInMs, 7000)
  t.strictSame(await at(7000, ['a', 'b']), [])
  t.strictSame(await at(8000, ['a', 'b']), ['a'])
  t.strictSame(await at(9400, ['b']), ['b'])
})
