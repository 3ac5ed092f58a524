import type { Bench, Benchmark, Finding, Row } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { rotated, samplesOf, type Figures } from '../measure/rounds.ts'
import { summaryOf } from '../measure/statistics.ts'
import { startProcess, type Process } from '../processes/process.ts'
import type { Goal } from '../report/goal.ts'
import { withKeys } from './bearer.ts'
import { makeBetterAuthKeys } from './contenders/better-auth.ts'
import type { GuardedMethods, GuardName } from './guarded-process.ts'
import { keyedDatabase } from './keyed-database.ts'
import { keyTexts } from './key-texts.ts'

const LIVE_KEYS = 10_000
const CONNECTIONS = 64
const PORTIONS = 12

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
    const measured = new Map<string, Figures[]>(contenders.map(({ name }) => [name, []]))
    for (let round = 0; round < bench.rounds; round++) {
      bench.tell(`round ${round + 1} of ${bench.rounds}`)
      const figures = await inFreshProcesses(load, database, rotated(contenders, round))
      for (const [name, figure] of figures) measured.get(name)?.push(figure)
    }
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

/**
 * All contenders of a round in fresh processes, which are then measured by turns in small portions:
 * a machine that is slow for a second is slow for all of them.
 */
async function inFreshProcesses(
  load: Process<LoadMethods>,
  database: string,
  contenders: Measured[],
): Promise<Map<string, Figures>> {
  const servers: GuardedServer[] = []
  try {
    for (const contender of contenders) servers.push(await startGuarded(database, contender))
    for (const server of servers) await warmUp(load, server)
    const portions = new Map(servers.map((server) => [server, [] as Figures[]]))
    for (let turn = 0; turn < PORTIONS; turn++) {
      for (const server of rotated(servers, turn)) {
        portions.get(server)?.push(await measurePortion(load, server))
      }
    }
    return new Map(
      [...portions].map(([{ contender }, figures]) => [contender.name, mediansOf(figures)]),
    )
  } finally {
    for (const { process } of servers) await process.stop()
  }
}

interface GuardedServer {
  contender: Measured
  process: Process<GuardedMethods>
  port: number
}

async function startGuarded(database: string, contender: Measured): Promise<GuardedServer> {
  const process = await startProcess<GuardedMethods>(new URL('guarded-process.ts', import.meta.url))
  const { guard, keys } = contender
  return { contender, process, port: await process.call('start', guard, { database, keys }) }
}

/** Each key once at least: what is measured is the way of a key that is known. */
async function warmUp(load: Process<LoadMethods>, { contender, port }: GuardedServer) {
  const { keys, requests } = contender
  await load.call('aim', port, CONNECTIONS, withKeys(keys))
  await load.call('closedLoop', Math.max(keys.length, Math.ceil(requests / 3)))
}

async function measurePortion(
  load: Process<LoadMethods>,
  { contender, process, port }: GuardedServer,
): Promise<Figures> {
  const requests = Math.ceil(contender.requests / PORTIONS)
  await load.call('aim', port, CONNECTIONS, withKeys(contender.keys))
  const before = await process.call('usage')
  const { statuses, perSecond } = await load.call('closedLoop', requests)
  const after = await process.call('usage')
  if (statuses[200] !== requests) {
    throw new Error(`${contender.name} answered ${JSON.stringify(statuses)}`)
  }
  return {
    cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / requests,
    rate: perSecond,
  }
}

const mediansOf = (figures: Figures[]): Figures => ({
  cpu: summaryOf(figures.map(({ cpu }) => cpu ?? Number.NaN)).median,
  rate: summaryOf(figures.map(({ rate }) => rate ?? Number.NaN)).median,
})
