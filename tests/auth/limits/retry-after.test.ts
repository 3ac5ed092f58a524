import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { retryAfterSeconds } from '../../../packages/auth/src/guard/limit-check.ts'
import type { LimitDecision } from '../../../packages/auth/src/limits/limiter.ts'
import { startHost } from '../support/host.ts'
import { LimiterStage, type StagedProcess } from '../support/limiter-stage.ts'
import { seededRandom } from '../support/random.ts'

const LIMITS: [limit: number, period: number][] = [
  [1, 1],
  [1, 60],
  [3, 2],
  [10, 10],
  [11, 1],
  [100, 5],
  [500, 60],
  [1000, 3600],
]
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8]

const rule = (limit: number, period: number) => ({ subject: 'key:a', period, limit })

/** Asks until a request is over the limit, and returns the value of `Retry-After`. */
function useUp(
  stage: LimiterStage,
  processes: readonly StagedProcess[],
  { limit, period, everyMs }: { limit: number; period: number; everyMs: () => number },
): number | undefined {
  for (let asked = 0; ; asked++) {
    const process = processes[asked % processes.length]!
    const list = process.listOf([rule(limit, period)])
    const decision = process.askFor(list, 1)
    if (typeof decision !== 'string') return retryAfterSeconds(list, decision, stage.now)
    stage.pass(everyMs())
  }
}

const isPassed = (decision: LimitDecision): boolean => decision === 'passed'

for (const [limit, period] of LIMITS) {
  t.test(`who waits for Retry-After of ${limit} in ${period} s passes`, async (t) => {
    for (const seed of SEEDS) {
      for (const tookMs of [1, 4, 60]) {
        const random = seededRandom(seed)
        const stage = new LimiterStage()
        stage.tookMs = tookMs
        const process = stage.start('one')
        // The whole limit at once, or within a part of the window.
        const share = seed % 2 === 0 ? 0 : (period * 500) / limit
        for (let round = 0; round < 3; round++) {
          const everyMs = (): number => random() * share
          const seconds = useUp(stage, [process], { limit, period, everyMs })
          const name = `seed ${seed}, ${tookMs} ms a statement: after ${seconds} s`
          // Postgres counts a request for a window from a little later on: at most a second more.
          t.ok(seconds !== undefined && seconds >= 1 && seconds <= period + 1, name)
          stage.pass(seconds! * 1000)
          t.ok(isPassed(process.askFor(process.listOf([rule(limit, period)]), 1)), name)
        }
      }
    }
  })
}

t.test('the requests of two processes pass after Retry-After too', async (t) => {
  for (const [limit, period] of LIMITS) {
    // A tenth of a greater limit may be held by the other process.
    if (limit > 10) continue
    const stage = new LimiterStage()
    const processes = [stage.start('one'), stage.start('other')]
    for (let round = 0; round < 5; round++) {
      const seconds = useUp(stage, processes, { limit, period, everyMs: () => 1 })
      t.ok(seconds! <= period + 1, `${seconds} of ${period} s`)
      stage.pass(seconds! * 1000)
      const process = processes[round % 2]!
      t.ok(
        isPassed(process.askFor(process.listOf([rule(limit, period)]), 1)),
        `${limit}: ${seconds}`,
      )
    }
  }
})

t.test('over HTTP, who waits for exactly Retry-After passes', async (t) => {
  const after = (app: { get(path: string, ...rest: unknown[]): unknown }) => {
    app.get('/me', async () => 'me')
  }
  const host = await startHost(t, { after })
  const { key } = await host.makeKey({ limits: [{ limit: 2, perSeconds: 1 }] })
  const ask = () => host.ask('GET', '/me', { key })
  const statuses: number[] = []
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all([ask(), ask(), ask()])
    const refused = answers.find(({ status }) => status === 429)!
    const seconds = Number(refused.headers['retry-after'])
    t.ok(seconds === 1 || seconds === 2, `${seconds}`)
    await pause(seconds * 1000)
    statuses.push((await ask()).status)
    await pause(2000)
  }
  t.same(statuses, [200, 200, 200])
})
