import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { growthOf, interleave, rotated, rowsOf, type Measured } from '../measure.ts'
import type { Process } from '../process.ts'
import type { Goal } from '../report.ts'
import { addRound, type Contender } from './cpu.ts'
import type { GuardedMethods } from './guarded-process.ts'
import { keyTexts, rangedDatabase, withKeys, type KeyRange } from './keys.ts'

const CONNECTIONS = 64
/** As many requests of other keys wait for allowances at a time. */
const MANY_CONNECTIONS = 1000
/** Far more than a run makes. */
const MANY = 1_000_000
const SMALL = 5

const UNLIMITED = 'no limits'
const GOALS: Record<string, Goal> = {
  'one limit': { ratioAtLeast: 0.9 },
  'three limits and a quota': { ratioAtLeast: 0.9 },
}
const USAGE_GOALS: Record<string, Goal> = { 'usage counted': { ratioAtLeast: 0.97 } }

export const guardLimits: Benchmark = {
  name: 'guard-limits',
  title:
    'CPU time and memory of a guarded hello-world route for keys with limits, and with usage counted.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const load = await bench.start<LoadMethods>('load/load-process.ts')
    const live = bench.size(10_000, 200)
    const few = await measureCpu(bench, load, live)
    const manyLive = bench.size(100_000, 500)
    const many = await measureCpu(bench, load, manyLive)
    const used = await measureUsedUp(bench, load, live)
    const perRequest = { unit: 'µs of the server process per request', better: 'less' } as const
    const against = UNLIMITED
    const usedUp = { keys: live, connections: Math.min(MANY_CONNECTIONS, live) }
    const names = [UNLIMITED, 'no limits, once more', 'one limit', 'three limits and a quota']
    return [
      {
        ...perRequest,
        title: 'Limited keys: CPU',
        settings: { 'live keys of each kind': live, connections: CONNECTIONS },
        rows: rowsOf(few, 'cpu', { names, against, goals: GOALS }),
      },
      {
        ...perRequest,
        title: 'Limited keys, very many of them: CPU',
        settings: { 'live keys of each kind': manyLive, connections: CONNECTIONS },
        rows: rowsOf(many, 'cpu', { names, against, goals: GOALS }),
      },
      {
        title: 'Limited keys, very many of them: memory',
        unit: 'MiB of the server process after the load',
        better: 'less',
        settings: { 'live keys of each kind': manyLive, connections: CONNECTIONS },
        rows: rowsOf(many, 'megabytes', { names, against }),
      },
      {
        ...perRequest,
        title: 'Usage: CPU',
        settings: { 'live keys': live, connections: CONNECTIONS },
        rows: rowsOf(few, 'cpu', {
          names: ['usage not counted', 'usage counted'],
          against: 'usage not counted',
          goals: USAGE_GOALS,
        }),
      },
      {
        title: `Keys that use up a limit of ${SMALL} at once: throughput`,
        unit: 'requests per second',
        better: 'more',
        settings: usedUp,
        rows: rowsOf(used, 'rate', { against }),
        notes: ['Small limits are asked for exactly: each request waits for a statement.'],
      },
      {
        title: `Keys that use up a limit of ${SMALL} at once: latency`,
        unit: 'ms, the 99th percentile of the requests',
        better: 'less',
        settings: usedUp,
        rows: rowsOf(used, 'p99', { against }),
      },
    ]
  },
}

/** All keys cached, and allowances held. */
async function measureCpu(
  bench: Bench,
  load: Process<LoadMethods>,
  live: number,
): Promise<Measured> {
  const one = [{ limit: MANY, perSeconds: 60 }]
  const three = [...one, { limit: MANY, perSeconds: 3600 }, { limit: MANY, perSeconds: 86_400 }]
  const ranges: KeyRange[] = [
    { keys: live },
    { keys: live, limits: one },
    { keys: live, limits: three, quota: { limit: MANY * 100, period: 'month' } },
  ]
  const database = await rangedDatabase(bench, ranges)
  const requests = Math.max(bench.size(60_000, 2000), live * 3)
  const [plain, limited, thrice] = ranges.map((_, index) => keyTexts(index * live, live))
  const contender = (name: string, keys: string[] = [], guard: Contender['guard'] = 'svcAuth') => ({
    name,
    guard,
    keys,
    requests,
  })
  const contenders = [
    contender(UNLIMITED, plain),
    // Differs from the first by noise alone.
    contender('no limits, once more', plain),
    contender('one limit', limited),
    contender('three limits and a quota', thrice),
    contender('usage not counted', plain, 'svcAuth without usage'),
    contender('usage counted', plain),
  ]
  const measured: Measured = new Map(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < bench.rounds; round++) {
    bench.tell(`${live} keys, round ${round + 1} of ${bench.rounds}`)
    await addRound(bench, measured, { load, database, contenders: rotated(contenders, round) })
  }
  return measured
}

/** Each key makes as many requests as its limit allows; each turn has keys of its own. */
async function measureUsedUp(
  bench: Bench,
  load: Process<LoadMethods>,
  keys: number,
): Promise<Measured> {
  const turns = bench.rounds + 2
  const limits = [{ limit: SMALL, perSeconds: 3600 }]
  const database = await rangedDatabase(bench, [
    { keys: keys * turns },
    { keys: keys * turns, limits },
  ])
  const requests = keys * SMALL
  const contenders = await Promise.all(
    [UNLIMITED, `a limit of ${SMALL}`].map(async (name, index) => {
      const server = await bench.start<GuardedMethods>('guard/guarded-process.ts')
      let turn = 0
      return {
        name,
        async measure() {
          const texts = keyTexts((index * turns + (turn++ % turns)) * keys, keys)
          const port = await server.call('start', 'svcAuth', { database, keys: texts })
          await load.call('aim', port, Math.min(MANY_CONNECTIONS, keys), withKeys(texts))
          const { result, growth } = await growthOf({ cpu: server.cpu }, () =>
            load.call('load', requests),
          )
          const cpu = (growth.cpu ?? Number.NaN) / requests
          return { rate: result.perSecond, p99: result.latency.p99, cpu }
        },
      }
    }),
  )
  return interleave(contenders, bench)
}
