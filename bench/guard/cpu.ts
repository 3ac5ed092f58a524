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

/**
 * Node lets its young generation grow as an application allocates, and one that has grown costs a
 * third less CPU: whatever is loaded beside a route makes it cheaper. With the size that it may
 * grow to from the start, what is left is the guard.
 */
const GROWN_YOUNG_GENERATION = ['--min-semi-space-size=16', '--max-semi-space-size=16']

const GOAL: Goal = { ratioAtLeast: 0.92, aim: 0.95 }
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
  /** Postgres needs the core that a load generator without sleep would take. */
  asksPostgres?: true
}

export const guardCpu: Benchmark = {
  name: 'guard-cpu',
  title: 'What a guard costs a hello-world route, in CPU time of fresh processes, keys cached.',
  limitSeconds: 1500,
  async run(bench: Bench): Promise<Finding[]> {
    const database = await keyedDatabase(bench, LIVE_KEYS)
    const load = bench.owns(
      await startProcess<LoadMethods>(new URL('../load/load-process.ts', import.meta.url)),
    )
    const requests = bench.size(60_000, 5000)
    const keys = keyTexts(0, LIVE_KEYS)
    const cached: Measured[] = [
      { name: 'no guard', guard: 'no guard', keys, requests },
      { name: 'no guard, once more', guard: 'no guard', keys, requests },
      { name: 'svcAuth', guard: 'svcAuth', keys, requests },
      {
        name: 'svcAuth with request context',
        guard: 'svcAuth with request context',
        keys,
        requests,
      },
      { name: 'bearer-auth, 1 key', guard: 'bearer-auth', keys: keys.slice(0, 1), requests },
      { name: 'bearer-auth, 10 keys', guard: 'bearer-auth', keys: keys.slice(0, 10), requests },
    ]
    const betterAuth: Measured = {
      name: 'better-auth',
      guard: 'better-auth',
      keys: await makeBetterAuthKeys(database, bench.size(100, 10)),
      requests: bench.size(2000, 200),
      asksPostgres: true,
    }
    const all = [...cached, betterAuth]
    const byDefault = new Map<string, Figures[]>(all.map(({ name }) => [name, []]))
    const grown = new Map<string, Figures[]>(cached.map(({ name }) => [name, []]))
    for (let round = 0; round < bench.rounds; round++) {
      bench.tell(`round ${round + 1} of ${bench.rounds}`)
      await addRound(byDefault, { load, database, contenders: rotated(all, round), flags: [] })
      await addRound(grown, {
        load,
        database,
        contenders: rotated(cached, round),
        flags: GROWN_YOUNG_GENERATION,
      })
    }
    const settings = { 'live keys': LIVE_KEYS, connections: CONNECTIONS, requests }
    const perRequest = { unit: 'µs of the server process per request', better: 'less' } as const
    return [
      {
        ...perRequest,
        title: 'Guard, every key cached: CPU, Node as it comes',
        settings,
        rows: besideNone(byDefault, all, 'cpu'),
        notes: [
          'Every plugin that allocates makes Node grow its young generation, and collect it less often: svcAuth gains by that.',
        ],
      },
      {
        ...perRequest,
        title: 'Guard, every key cached: CPU, young generation grown',
        settings: { ...settings, node: GROWN_YOUNG_GENERATION.join(' ') },
        rows: besideNone(grown, cached, 'cpu'),
      },
      {
        ...perRequest,
        title: 'svcAuth beside the others: CPU, Node as it comes',
        settings: { ...settings, 'requests to better-auth': betterAuth.requests },
        rows: besideSvcAuth(byDefault, all),
      },
      {
        title: 'Guard, every key cached: throughput, young generation grown',
        unit: 'requests per second',
        better: 'more',
        settings,
        rows: besideNone(grown, cached, 'rate').map(({ goal: _none, ...row }) => row),
        notes: ['The generator of the load has a core of its own, Postgres next to nothing to do.'],
      },
    ]
  },
}

const besideNone = (
  measured: Map<string, Figures[]>,
  contenders: Measured[],
  figure: string,
): Row[] =>
  contenders.map(({ name }) => ({
    name,
    samples: samplesOf(measured, name, figure),
    ...(name === 'no guard' ? {} : { against: 'no guard' }),
    ...(name === 'svcAuth' ? { goal: GOAL } : {}),
  }))

const besideSvcAuth = (measured: Map<string, Figures[]>, contenders: Measured[]): Row[] =>
  contenders
    .filter(({ guard }) => guard !== 'no guard')
    .map(({ name }) => ({
      name,
      samples: samplesOf(measured, name, 'cpu'),
      ...(name === 'svcAuth' ? {} : { against: 'svcAuth' }),
      ...behind[name],
    }))

interface Round {
  load: Process<LoadMethods>
  database: string
  contenders: Measured[]
  /** For the Node of each contender. */
  flags: string[]
}

/**
 * All contenders in fresh processes, which are then measured by turns in small portions: a machine
 * that is slow for a second is slow for all of them.
 */
async function addRound(
  measured: Map<string, Figures[]>,
  { load, database, contenders, flags }: Round,
): Promise<void> {
  const servers: GuardedServer[] = []
  try {
    for (const contender of contenders) {
      servers.push(await startGuarded(database, contender, flags))
    }
    for (const server of servers) await warmUp(load, server)
    const portions = new Map(servers.map((server) => [server, [] as Figures[]]))
    for (let turn = 0; turn < PORTIONS; turn++) {
      for (const server of rotated(servers, turn)) {
        portions.get(server)?.push(await measurePortion(load, server, turn))
      }
    }
    for (const [{ contender }, figures] of portions) {
      measured.get(contender.name)?.push(mediansOf(figures))
    }
  } finally {
    for (const { process } of servers) await process.stop()
  }
}

interface GuardedServer {
  contender: Measured
  process: Process<GuardedMethods>
  port: number
}

async function startGuarded(
  database: string,
  contender: Measured,
  flags: string[],
): Promise<GuardedServer> {
  const process = await startProcess<GuardedMethods>(
    new URL('guarded-process.ts', import.meta.url),
    flags,
  )
  const { guard, keys } = contender
  return { contender, process, port: await process.call('start', guard, { database, keys }) }
}

/** Each key several times: what is measured is the way of a key that is known, through compiled code. */
async function warmUp(load: Process<LoadMethods>, { contender, port }: GuardedServer) {
  const { keys, requests } = contender
  await load.call('aim', port, CONNECTIONS, withKeys(keys))
  await load.call('closedLoop', requests)
}

async function measurePortion(
  load: Process<LoadMethods>,
  { contender, process, port }: GuardedServer,
  turn: number,
): Promise<Figures> {
  const requests = Math.ceil(contender.requests / PORTIONS)
  // Each portion goes on with the keys where the one before has left off.
  const keys = rotated(contender.keys, turn * requests)
  await load.call('aim', port, CONNECTIONS, withKeys(keys))
  const before = await process.call('usage')
  const { statuses, perSecond } = await load.call('closedLoop', requests, {
    sleepless: !contender.asksPostgres,
  })
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
