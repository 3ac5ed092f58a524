import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { growthOf, interleave, rowsOf, type Measured } from '../measure.ts'
import type { Goal } from '../report.ts'
import type { GuardedMethods } from './guarded-process.ts'
import { keyTexts, rangedDatabase, withKeys, type KeyRange } from './keys.ts'
import {
  addSlices,
  CONNECTIONS,
  nothingSliced,
  type SliceContender,
  type Sliced,
  type SlicePlan,
} from './slices.ts'

/** As many requests of other keys wait for allowances at a time. */
const MANY_CONNECTIONS = 1000
/** Far more than a run makes. */
const MANY = 1_000_000
const SMALL = 5

const UNLIMITED = 'no limits'
const NOT_COUNTED = 'usage not counted'
const GOALS: Record<string, Goal> = {
  'one limit': { ratioAtLeast: 0.9 },
}
const USAGE_GOALS: Record<string, Goal> = { 'usage counted': { ratioAtLeast: 0.97 } }

const PER_REQUEST = { unit: 'µs of the server process per request', better: 'less' } as const

export const guardLimits: Benchmark = {
  name: 'guard-limits',
  title:
    'CPU time of a guarded hello-world route for keys with limits, and for keys that use them up.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const live = bench.size(10_000, 200)
    const { slices } = await measureLimited(bench, live)
    const used = await measureUsedUp(bench, live)
    const usedUp = { keys: live, connections: Math.min(MANY_CONNECTIONS, live) }
    return [
      {
        ...PER_REQUEST,
        title: 'Limited keys: CPU',
        settings: { 'live keys of each kind': live, connections: CONNECTIONS },
        rows: rowsOf(slices, 'cpu', { against: UNLIMITED, goals: GOALS }),
        notes: [NOISE],
      },
      {
        title: `Keys that use up a limit of ${SMALL} at once: throughput`,
        unit: 'requests per second',
        better: 'more',
        settings: usedUp,
        rows: rowsOf(used, 'rate', { against: UNLIMITED }),
        notes: ['Small limits are asked for exactly: each request waits for a statement.'],
      },
      {
        title: `Keys that use up a limit of ${SMALL} at once: latency`,
        unit: 'ms, the 99th percentile of the requests',
        better: 'less',
        settings: usedUp,
        rows: rowsOf(used, 'p99', { against: UNLIMITED }),
      },
    ]
  },
}

export const guardManyLimits: Benchmark = {
  name: 'guard-many-limits',
  title: 'CPU time and memory of the guard with very many live keys that have limits.',
  limitSeconds: 3600,
  async run(bench: Bench): Promise<Finding[]> {
    const live = bench.long ? 100_000 : bench.size(20_000, 500)
    // A process gives back the allowances of a key that is not used for two minutes, or for a thirtieth
    // of a shorter window. Each slice uses all keys, of as few kinds as possible: they are used more often.
    // A server is sure to remember 100 000 valid keys, so each kind has a server of its own.
    const { slices, rests } = await measureLimited(bench, live, {
      windows: [3600],
      hasOwnServers: true,
      slices: bench.size(6, 2),
      requestsPerSlice: live,
      warmUpSlices: 1,
    })
    const settings = { 'live keys of each kind': live, connections: CONNECTIONS }
    return [
      {
        ...PER_REQUEST,
        title: 'Limited keys, very many of them: CPU',
        settings,
        rows: rowsOf(slices, 'cpu', { against: UNLIMITED, goals: GOALS }),
        notes: [NOISE],
      },
      {
        title: 'Limited keys, very many of them: memory',
        unit: 'MiB that the live keys add to the heap of the server process',
        better: 'less',
        settings,
        rows: rowsOf(rests, 'heap', { names: KINDS, against: UNLIMITED }),
      },
      {
        title: 'Limited keys, very many of them: at rest',
        unit: 'µs of the server process per ms, just after the load',
        better: 'less',
        settings,
        rows: rowsOf(rests, 'rest', { names: KINDS, against: UNLIMITED }),
      },
    ]
  },
}

export const guardUsage: Benchmark = {
  name: 'guard-usage',
  title: 'CPU time of a guarded hello-world route with usage counted, against without.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const live = bench.size(10_000, 200)
    const { slices } = await measureUsage(bench, live)
    return [
      {
        ...PER_REQUEST,
        title: 'Usage: CPU',
        settings: { 'live keys': live, connections: CONNECTIONS },
        rows: rowsOf(slices, 'cpu', { against: NOT_COUNTED, goals: USAGE_GOALS }),
        notes: [NOISE],
      },
    ]
  },
}

export const guardPlans: Benchmark = {
  name: 'guard-plans',
  title:
    'CPU time of a guarded hello-world route for keys whose tenant has a plan, against without.',
  limitSeconds: 1800,
  async run(bench: Bench): Promise<Finding[]> {
    const live = bench.size(10_000, 200)
    const { slices } = await measurePlans(bench, live)
    const settings = { 'live keys of each kind': live, connections: CONNECTIONS }
    return [
      {
        ...PER_REQUEST,
        title: 'Plans that limit no requests: CPU',
        settings,
        rows: rowsOf(slices, 'cpu', {
          names: [NO_PLANS, `${NO_PLANS}, once more`, 'a plan'],
          against: NO_PLANS,
          goals: { 'a plan': { ratioAtLeast: 0.97 } },
        }),
        notes: [NOISE],
      },
      {
        ...PER_REQUEST,
        title: 'A limit by the plan: CPU',
        settings,
        rows: rowsOf(slices, 'cpu', {
          names: [OWN_LIMIT, 'one limit, by the plan'],
          against: OWN_LIMIT,
          goals: { 'one limit, by the plan': { ratioAtLeast: 0.97 } },
        }),
      },
    ]
  },
}

const NO_PLANS = 'no plans'
const OWN_LIMIT = 'one limit, of the key'

/** All keys are of one tenant, whose plan is known. */
async function measurePlans(bench: Bench, live: number): Promise<Sliced> {
  const limits = [{ limit: MANY, perSeconds: 60 }]
  const [plain, limited] = [keyTexts(0, live), keyTexts(live, live)]
  const contenders = [
    { name: NO_PLANS, keys: plain },
    { name: `${NO_PLANS}, once more`, keys: plain },
    { name: 'a plan', keys: plain, guard: 'svcAuth with plans' as const },
    { name: OWN_LIMIT, keys: limited },
    { name: 'one limit, by the plan', keys: plain, guard: 'svcAuth with limits by plans' as const },
  ]
  const ranges = [{ keys: live }, { keys: live, limits }]
  return measureSlices(bench, contenders, {
    database: await rangedDatabase(bench, ranges, undefined, 'acme'),
    slices: bench.size(40, 3),
    requestsPerSlice: bench.size(4000, 400),
    warmUpRequests: bench.size(60_000, 2000),
  })
}

const KINDS = [UNLIMITED, 'one limit']
const NOISE = 'The row "once more" differs from the first by noise alone.'

/** All keys cached, and allowances held. */
async function measureLimited(
  bench: Bench,
  live: number,
  {
    windows = [60, 3600, 86_400],
    hasOwnServers = false,
    ...plan
  }: Partial<SlicePlan> & { windows?: number[]; hasOwnServers?: boolean } = {},
): Promise<Sliced> {
  const all = windows.map((perSeconds) => ({ limit: MANY, perSeconds }))
  const one = all.slice(0, 1)
  const ranges: KeyRange[] = [{ keys: live }, { keys: live, limits: one }]
  if (all.length > 1) {
    ranges.push({ keys: live, limits: all, quota: { limit: MANY * 100, period: 'month' } })
  }
  const [plain, limited, thrice] = ranges.map((_, index) => keyTexts(index * live, live))
  const contenders = [
    { name: UNLIMITED, keys: plain! },
    { name: `${UNLIMITED}, once more`, keys: plain! },
    { name: 'one limit', keys: limited!, ...(hasOwnServers && { server: 'limited' }) },
    ...(thrice ? [{ name: 'three limits and a quota', keys: thrice }] : []),
  ]
  return measureSlices(bench, contenders, {
    database: await rangedDatabase(bench, ranges),
    slices: bench.size(40, 3),
    requestsPerSlice: bench.size(4000, 400),
    warmUpRequests: Math.max(bench.size(60_000, 2000), live * 3),
    restMs: bench.size(5000, 100),
    ...plan,
  })
}

/** A slice has as many requests as a server answers between two writes, 5 s, and ends with one. */
async function measureUsage(bench: Bench, live: number): Promise<Sliced> {
  const keys = keyTexts(0, live)
  const contenders = [
    { name: NOT_COUNTED, keys, guard: 'svcAuth without usage' as const },
    { name: `${NOT_COUNTED}, once more`, keys, guard: 'svcAuth without usage' as const },
    { name: 'usage counted', keys },
  ]
  return measureSlices(bench, contenders, {
    database: await rangedDatabase(bench, [{ keys: live }]),
    slices: bench.size(6, 2),
    requestsPerSlice: bench.size(120_000, 400),
    warmUpRequests: bench.size(120_000, 2000),
    writesUsage: true,
  })
}

async function measureSlices(
  bench: Bench,
  contenders: readonly SliceContender[],
  plan: SlicePlan,
): Promise<Sliced> {
  const sliced = nothingSliced(contenders.map(({ name }) => name))
  for (let round = 0; round < bench.rounds; round++) {
    bench.tell(`${contenders.at(-1)?.keys.length} keys, round ${round + 1} of ${bench.rounds}`)
    await addSlices(bench, sliced, contenders, plan)
  }
  return sliced
}

/** Each key makes as many requests as its limit allows; each turn has keys of its own. */
async function measureUsedUp(bench: Bench, keys: number): Promise<Measured> {
  const load = await bench.start<LoadMethods>('load/load-process.ts')
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
