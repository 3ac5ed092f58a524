import type { Bench, Benchmark, Finding, Row } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { interleave, samplesOf } from '../measure/rounds.ts'
import { startProcess, type Process } from '../processes/process.ts'
import type { Goal } from '../report/goal.ts'
import { withKeys } from './bearer.ts'
import { makeBetterAuthKeys } from './contenders/better-auth.ts'
import type { GuardedMethods, GuardName } from './guarded-process.ts'
import { keyedDatabase } from './keyed-database.ts'
import { keyTexts } from './key-texts.ts'

const LIVE_KEYS = 10_000
const CONNECTIONS = 64

/** How far the others should be behind svcAuth. */
const behind: Partial<Record<string, { goal: Goal }>> = {
  'bearer-auth, 10 keys': { goal: { ratioAtMost: 1 } },
  'better-auth': { goal: { ratioAtMost: 0.05 } },
}

interface Measured {
  name: string
  guard: GuardName
  keys: string[]
  /** better-auth manages a hundredth of the others. */
  requests: number
}

export const guardCpu: Benchmark = {
  name: 'guard-cpu',
  title: 'What a guard costs a hello-world route, in CPU time of fresh processes, keys cached.',
  limitSeconds: 900,
  async run(bench: Bench): Promise<Finding[]> {
    const database = await keyedDatabase(bench, LIVE_KEYS)
    const load = bench.owns(
      await startProcess<LoadMethods>(new URL('../load/load-process.ts', import.meta.url)),
    )
    const requests = bench.size(60_000, 5000)
    const few = { requests: bench.size(2000, 200) }
    const keys = keyTexts(0, LIVE_KEYS)
    const contenders: Measured[] = [
      { name: 'no guard', guard: 'no guard', keys, requests },
      { name: 'svcAuth', guard: 'svcAuth', keys, requests },
      {
        name: 'svcAuth with request context',
        guard: 'svcAuth with request context',
        keys,
        requests,
      },
      { name: 'bearer-auth, 1 key', guard: 'bearer-auth', keys: keys.slice(0, 1), requests },
      { name: 'bearer-auth, 10 keys', guard: 'bearer-auth', keys: keys.slice(0, 10), requests },
      {
        name: 'better-auth',
        guard: 'better-auth',
        keys: await makeBetterAuthKeys(database, bench.size(100, 10)),
        ...few,
      },
    ]
    const measured = await interleave(
      contenders.map((contender) => ({
        name: contender.name,
        measure: () => inFreshProcess(load, database, contender),
      })),
      { warmUps: 0, rounds: bench.rounds, tell: bench.tell },
    )
    const rows = (figure: string, more: Partial<Record<string, Partial<Row>>>): Row[] =>
      contenders.map(({ name }) => ({
        name,
        samples: samplesOf(measured, name, figure),
        ...(name === 'no guard' ? {} : { against: 'no guard' }),
        ...more[name],
      }))
    const settings = {
      'live keys': LIVE_KEYS,
      connections: CONNECTIONS,
      requests,
      'requests to better-auth': few.requests,
    }
    return [
      {
        title: 'Guard, every key cached: CPU',
        unit: 'µs of the server process per request',
        better: 'less',
        settings,
        rows: rows('cpu', { svcAuth: { goal: { ratioAtLeast: 0.92, aim: 0.95 } } }),
      },
      {
        title: 'svcAuth beside the others: CPU',
        unit: 'µs of the server process per request',
        better: 'less',
        settings,
        rows: contenders
          .filter(({ name }) => name !== 'no guard')
          .map(({ name }) => ({
            name,
            samples: samplesOf(measured, name, 'cpu'),
            ...(name === 'svcAuth' ? {} : { against: 'svcAuth' }),
            ...behind[name],
          })),
      },
      {
        title: 'Guard, every key cached: throughput',
        unit: 'requests per second',
        better: 'more',
        settings,
        rows: rows('rate', {}),
        notes: ['The generator of the load shares the cores: the CPU tells more.'],
      },
    ]
  },
}

async function inFreshProcess(
  load: Process<LoadMethods>,
  database: string,
  { guard, keys, requests }: Measured,
) {
  const server = await startProcess<GuardedMethods>(new URL('guarded-process.ts', import.meta.url))
  try {
    const port = await server.call('start', guard, { database, keys })
    await load.call('aim', port, CONNECTIONS, withKeys(keys))
    // Each key once at least: what is measured is the way of a key that is known.
    await load.call('closedLoop', Math.max(keys.length, Math.ceil(requests / 3)))
    const before = await server.call('usage')
    const { statuses, perSecond } = await load.call('closedLoop', requests)
    const after = await server.call('usage')
    if (statuses[200] !== requests) {
      throw new Error(`${guard} answered ${JSON.stringify(statuses)}`)
    }
    return {
      cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
      rate: perSecond,
    }
  } finally {
    await server.stop()
  }
}
