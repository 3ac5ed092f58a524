import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess } from '../processes/process.ts'
import { withKeys } from './bearer.ts'
import { makeBetterAuthKeys } from './contenders/better-auth.ts'
import type { GuardedMethods, GuardName } from './guarded-process.ts'
import { keyedDatabase } from './keyed-database.ts'
import { keyTexts } from './key-texts.ts'

const LIVE_KEYS = 10_000
const CONNECTIONS = 64
/** What better-auth can hold on two cores with some to spare. */
const BETTER_AUTH_RATE = 200
const RATE = 2000

export const guardLatency: Benchmark = {
  name: 'guard-latency',
  title: 'The latency that a guard adds at a steady pace, every key cached.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const database = await keyedDatabase(bench, LIVE_KEYS)
    const load = bench.owns(
      await startProcess<LoadMethods>(new URL('../load/load-process.ts', import.meta.url)),
    )
    const seconds = bench.size(6, 1)
    const keys = keyTexts(0, LIVE_KEYS)
    const contenders: { name: string; guard: GuardName; rate: number; keys: string[] }[] = [
      { name: 'no guard', guard: 'no guard', rate: RATE, keys },
      { name: 'svcAuth', guard: 'svcAuth', rate: RATE, keys },
      {
        name: 'svcAuth with request context',
        guard: 'svcAuth with request context',
        rate: RATE,
        keys,
      },
      { name: 'bearer-auth, 1 key', guard: 'bearer-auth', rate: RATE, keys: keys.slice(0, 1) },
      { name: `no guard, ${BETTER_AUTH_RATE}/s`, guard: 'no guard', rate: BETTER_AUTH_RATE, keys },
      {
        name: `better-auth, ${BETTER_AUTH_RATE}/s`,
        guard: 'better-auth',
        rate: BETTER_AUTH_RATE,
        keys: await makeBetterAuthKeys(database, bench.size(100, 10)),
      },
    ]
    const measured = await interleave(
      await Promise.all(
        contenders.map(async ({ name, guard, rate, keys: valid }) => {
          const server = bench.owns(
            await startProcess<GuardedMethods>(new URL('guarded-process.ts', import.meta.url)),
          )
          const port = await server.call('start', guard, { database, keys: valid })
          return {
            name,
            async measure() {
              await load.call('aim', port, CONNECTIONS, withKeys(valid))
              await load.call('closedLoop', valid.length)
              const { latency } = await load.call('openLoop', rate, seconds)
              return { p50: latency.p50, p99: latency.p99, p999: latency.p999 }
            },
          }
        }),
      ),
      { warmUps: 1, rounds: bench.rounds, tell: bench.tell },
    )
    const added = (figure: string) =>
      contenders
        .filter(({ guard }) => guard !== 'no guard')
        .map(({ name, rate }) => {
          const bare = samplesOf(
            measured,
            rate === RATE ? 'no guard' : `no guard, ${rate}/s`,
            figure,
          )
          return {
            name,
            samples: samplesOf(measured, name, figure).map((ms, i) => (ms - (bare[i] ?? 0)) * 1000),
          }
        })
    const settings = {
      rate: `${RATE}/s`,
      seconds,
      connections: CONNECTIONS,
      'live keys': LIVE_KEYS,
    }
    const named: [string, string][] = [
      ['p50', 'p50'],
      ['p99', 'p99'],
      ['p999', 'p99.9'],
    ]
    return named.flatMap(([figure, label]): Finding[] => [
      {
        title: `Latency of the route, ${label}`,
        unit: 'ms',
        better: 'less',
        settings,
        rows: contenders.map(({ name }) => ({ name, samples: samplesOf(measured, name, figure) })),
      },
      {
        title: `Latency added by the guard, ${label}`,
        unit: 'µs',
        better: 'less',
        settings,
        rows: added(figure),
      },
    ])
  },
}
