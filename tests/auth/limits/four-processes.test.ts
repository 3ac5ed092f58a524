// promise: No window exceeds a limit by more than the stated bounds, whatever happens to processes; steps of the clock have bounds of their own
import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test as Tap } from 'tap'
import { startHost } from '../support/host.ts'
import { startProcess } from '../support/process.ts'

const PROCESSES = 4
const FOR_MS = 5000
/** How long a busy machine may take to use half of a limit. */
const LONGEST_MS = 10 * FOR_MS
const KILLED_AT = 40

/** A request that passed: its admission lies between the two times. */
interface Passed {
  process: number
  sentAt: number
  receivedAt: number
}

const CASES: [limit: number, perSeconds: number][] = [
  [5, 1],
  [40, 1],
  [100, 2],
]

t.test('four processes, one of which is killed, keep the limits of a key together', async (t) => {
  const { database, makeKey } = await startHost(t)
  const processes = await Promise.all(
    Array.from({ length: PROCESSES }, () => otherProcess(t, database)),
  )
  for (const [limit, perSeconds] of CASES) {
    const { key } = await makeKey({ limits: [{ limit, perSeconds }] })
    const passed: Passed[] = []
    const windowMs = perSeconds * 1000
    // Every other window used up.
    const enough = (limit * FOR_MS) / windowMs / 2
    const from = performance.now()
    const isOver = () => {
      const elapsedMs = performance.now() - from
      return elapsedMs >= (passed.length < enough ? LONGEST_MS : FOR_MS)
    }
    // In the middle of the second case.
    if (limit === KILLED_AT) setTimeout(() => processes[0]?.kill(), FOR_MS / 2)
    const loops = processes.flatMap(({ ask }, process) =>
      Array.from({ length: 3 }, async () => {
        while (!isOver()) {
          const sentAt = performance.now()
          const status = await ask(key)
          if (status === 200) passed.push({ process, sentAt, receivedAt: performance.now() })
          await pause(5)
        }
      }),
    )
    await Promise.all(loops)
    const name = `${limit} in ${perSeconds} s: ${passed.length} passed`
    const bound = limit <= 10 ? limit : limit + Math.floor(limit / 10)
    t.ok(mostWithin(passed, windowMs) <= bound, name)
    for (let process = 0; process < PROCESSES; process++) {
      t.ok(
        mostWithin(
          passed.filter((one) => one.process === process),
          windowMs,
        ) <= limit,
      )
    }
    t.ok(passed.length >= enough, name)
  }
})

/** How many were admitted within one window for certain. */
function mostWithin(passed: readonly Passed[], windowMs: number): number {
  const counts = passed.map(({ sentAt }) => {
    const end = sentAt + windowMs
    return passed.filter((one) => one.sentAt >= sentAt && one.receivedAt < end).length
  })
  return Math.max(0, ...counts)
}

async function otherProcess(t: Tap, database: string) {
  const { child, port } = await startProcess(t, database)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  return {
    kill: () => child.kill('SIGKILL'),
    /** The status; `null` without an answer. */
    ask: (key: string) =>
      new Promise<number | null>((resolve) => {
        const options = { port, path: '/me', agent, headers: { 'x-api-key': key } }
        get(options, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? null))
        }).on('error', () => resolve(null))
      }),
  }
}
