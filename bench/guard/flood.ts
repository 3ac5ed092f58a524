import type { Bench, Benchmark, Finding } from '../benchmark.ts'
import type { LoadMethods, RequestPattern } from '../load/load-process.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess } from '../processes/process.ts'
import { withKeys } from './bearer.ts'
import type { GuardedMethods, GuardName } from './guarded-process.ts'
import { keyedDatabase } from './keyed-database.ts'
import { keyTexts } from './key-texts.ts'

const CONNECTIONS = 64
const LIVE_KEYS = 10_000
/** Made-up keys start where no key was stored, and never come twice. */
let nextUnknown = 10_000_000

interface Flood {
  name: string
  guard: GuardName
  pattern: (requests: number) => RequestPattern
}

const floods: Flood[] = [
  { name: 'good keys, cached', guard: 'svcAuth', pattern: () => withKeys(keyTexts(0, LIVE_KEYS)) },
  {
    name: 'no key',
    guard: 'svcAuth',
    pattern: () => ({ method: 'GET', path: '/', variants: [''] }),
  },
  { name: 'keys of another shape', guard: 'svcAuth', pattern: unknown((key) => key.slice(4)) },
  {
    name: 'wrong checksum',
    guard: 'svcAuth',
    pattern: unknown((key) => `${key.slice(0, -6)}AAAAAA`),
  },
  { name: 'well made, unknown', guard: 'svcAuth', pattern: unknown((key) => key) },
  {
    name: 'well made, unknown, rate limit on',
    guard: 'svcAuth with rate limit',
    pattern: unknown((key) => key),
  },
]

export const guardFlood: Benchmark = {
  name: 'guard-flood',
  title: 'A flood of requests without a good key, and a good client in the middle of it.',
  limitSeconds: 600,
  async run(bench: Bench): Promise<Finding[]> {
    const database = await keyedDatabase(bench, LIVE_KEYS)
    const [flood, goodClient] = await Promise.all(
      [1, 2].map(async () =>
        bench.owns(
          await startProcess<LoadMethods>(new URL('../load/load-process.ts', import.meta.url)),
        ),
      ),
    )
    const server = bench.owns(
      await startProcess<GuardedMethods>(new URL('guarded-process.ts', import.meta.url)),
    )
    if (!flood || !goodClient) throw new Error('two generators of load are needed')
    const requests = bench.size(20_000, 1000)
    const good = { rate: 200, keys: keyTexts(0, 200) }

    const measure =
      ({ guard, pattern }: Flood) =>
      async () => {
        const port = await server.call('start', guard, { database, keys: [] })
        await goodClient.call('aim', port, 8, withKeys(good.keys))
        await goodClient.call('closedLoop', good.keys.length)
        await flood.call('aim', port, CONNECTIONS, pattern(requests))
        const before = await server.call('usage')
        const loaded = await flood.call('closedLoop', requests)
        const after = await server.call('usage')
        await flood.call('load', pattern(requests))
        const flooding = flood.call('closedLoop', requests)
        const { latency, statuses } = await goodClient.call('openLoop', good.rate, loaded.seconds)
        await flooding
        return {
          cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
          rate: loaded.perSecond,
          turnedAway: (loaded.statuses[503] ?? 0) / requests,
          goodP99: latency.p99,
          goodShare: (statuses[200] ?? 0) / latency.count,
        }
      }
    const measured = await interleave(
      floods.map((one) => ({ name: one.name, measure: measure(one) })),
      { warmUps: 1, rounds: bench.rounds, tell: bench.tell },
    )
    const settings = { 'live keys': LIVE_KEYS, connections: CONNECTIONS, requests }
    const rows = (figure: string) =>
      floods.map(({ name }) => ({
        name,
        samples: samplesOf(measured, name, figure),
        ...(name === floods[0]?.name ? {} : { against: floods[0]?.name ?? '' }),
      }))
    return [
      {
        title: 'Flood: CPU',
        unit: 'µs of the server process per request',
        better: 'less',
        settings,
        rows: rows('cpu'),
      },
      {
        title: 'Flood: throughput',
        unit: 'requests per second',
        better: 'more',
        settings,
        rows: rows('rate'),
      },
      {
        title: 'A good client, 200 requests per second, during the flood: p99',
        unit: 'ms',
        better: 'less',
        settings,
        rows: rows('goodP99'),
      },
      {
        title: 'A good client during the flood: share of its requests that passed',
        unit: 'of 1',
        better: 'more',
        settings,
        rows: rows('goodShare').map((row) => ({ ...row, goal: { atLeast: 1 } })),
      },
      {
        title: 'The flood: share that is turned away with 503, Postgres not asked',
        unit: 'of 1',
        better: 'more',
        settings,
        rows: rows('turnedAway').map(({ name, samples }) => ({ name, samples })),
      },
    ]
  },
}

function unknown(spoil: (key: string) => string) {
  return (requests: number): RequestPattern => {
    nextUnknown += requests
    return withKeys(keyTexts(nextUnknown, requests).map(spoil))
  }
}
