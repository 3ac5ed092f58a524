import type { Bench, Benchmark, Checkout, Finding } from '../benchmark.ts'
import type { LoadMethods } from '../load/load-process.ts'
import { growthOf, turnsOf, rowsOf, summaryOf, type Measured } from '../measure.ts'
import type { Process } from '../process.ts'
import type { Goal } from '../report.ts'
import type { GuardedMethods, GuardName } from './guarded-process.ts'
import { keyedDatabase, keyTexts, withKeys } from './keys.ts'

const LIVE_KEYS = 10_000
const CONNECTIONS = 64
const PORTIONS = 12

/**
 * Node lets its young generation grow as an application allocates, and a larger one costs a third
 * less CPU: any plugin makes a route cheaper. With a fixed size only the guard's cost remains.
 */
const GROWN_YOUNG_GENERATION = ['--min-semi-space-size=16', '--max-semi-space-size=16']

const NO_GUARD = 'no guard'
const WITH_CONTEXT = 'svcAuth with request context'
const GOALS: Record<string, Goal> = { svcAuth: { ratioAtLeast: 0.92, aim: 0.95 } }
/** How far the others should be behind svcAuth. */
const BEHIND_SVC_AUTH: Record<string, Goal> = {
  'bearer-auth, 10 keys': { ratioAtMost: 1 },
  'better-auth': { ratioAtMost: 0.05 },
}

export interface Contender {
  name: string
  guard: GuardName
  keys: string[]
  requests: number
  /** This one unless given. */
  checkout?: Checkout
  /** That of the round unless given. */
  database?: string
  /** Postgres needs the core that a sleepless load generator would occupy. */
  asksPostgres?: true
}

export const guardCpu: Benchmark = {
  name: 'guard-cpu',
  title: 'CPU time of a guarded hello-world route in fresh processes, every key cached.',
  limitSeconds: 1500,
  async run(bench: Bench): Promise<Finding[]> {
    const databases = new Map<Checkout | undefined, string>()
    for (const checkout of [undefined, ...bench.checkouts.filter(({ mark }) => mark !== '')]) {
      databases.set(checkout, await keyedDatabase(bench, LIVE_KEYS, checkout))
    }
    const database = databases.get(undefined) as string
    const load = await bench.start<LoadMethods>('load/load-process.ts')
    const requests = bench.size(60_000, 5000)
    const keys = keyTexts(0, LIVE_KEYS)
    const cached: Contender[] = [
      { name: NO_GUARD, guard: NO_GUARD, keys, requests },
      // Differs from the first by noise alone.
      { name: 'no guard, once more', guard: NO_GUARD, keys, requests },
      { name: 'svcAuth', guard: 'svcAuth', keys, requests },
      { name: WITH_CONTEXT, guard: WITH_CONTEXT, keys, requests },
      { name: 'bearer-auth, 1 key', guard: 'bearer-auth', keys: keys.slice(0, 1), requests },
      { name: 'bearer-auth, 10 keys', guard: 'bearer-auth', keys: keys.slice(0, 10), requests },
    ]
    for (const [checkout, database] of databases) {
      if (!checkout) continue
      const name = `svcAuth${checkout.mark}`
      cached.push({ name, guard: 'svcAuth', keys, requests, checkout, database })
    }
    // Loaded only here: it takes longer to load than all benchmarks together.
    const { makeBetterAuthKeys } = await import('./better-auth.ts')
    const betterAuth: Contender = {
      name: 'better-auth',
      guard: 'better-auth',
      keys: await makeBetterAuthKeys(database, bench.size(100, 10)),
      // It manages a hundredth of the others.
      requests: bench.size(2000, 200),
      asksPostgres: true,
    }
    const all = [...cached, betterAuth]
    const byDefault: Measured = new Map(all.map(({ name }) => [name, []]))
    const grown: Measured = new Map(cached.map(({ name }) => [name, []]))
    for (let round = 0; round < bench.rounds; round++) {
      bench.tell(`round ${round + 1} of ${bench.rounds}`)
      const flags = GROWN_YOUNG_GENERATION
      await addRound(bench, byDefault, { load, database, contenders: turnsOf(all, round) })
      await addRound(bench, grown, { load, database, contenders: turnsOf(cached, round), flags })
    }
    const settings = { 'live keys': LIVE_KEYS, connections: CONNECTIONS, requests }
    const perRequest = { unit: 'µs of the server process per request', better: 'less' } as const
    const others = all.filter(({ guard }) => guard !== NO_GUARD).map(({ name }) => name)
    return [
      {
        ...perRequest,
        title: "Guard, every key cached: CPU, Node's defaults",
        settings,
        rows: rowsOf(byDefault, 'cpu', { against: NO_GUARD, goals: GOALS }),
        notes: [
          'Any plugin that allocates makes Node enlarge its young generation and collect it less often: svcAuth gains by that.',
        ],
      },
      {
        ...perRequest,
        title: 'Guard, every key cached: CPU, young generation of a fixed size',
        settings: { ...settings, node: GROWN_YOUNG_GENERATION.join(' ') },
        rows: rowsOf(grown, 'cpu', { against: NO_GUARD, goals: GOALS }),
      },
      {
        ...perRequest,
        title: "svcAuth beside the others: CPU, Node's defaults",
        settings: { ...settings, 'requests to better-auth': betterAuth.requests },
        rows: rowsOf(byDefault, 'cpu', {
          names: others,
          against: 'svcAuth',
          goals: BEHIND_SVC_AUTH,
        }),
      },
    ]
  },
}

interface Round {
  load: Process<LoadMethods>
  database: string
  contenders: Contender[]
  flags?: string[]
}

interface Server {
  contender: Contender
  process: Process<GuardedMethods>
  port: number
}

/**
 * Starts every contender in a fresh process and measures the processes in turn, in small portions:
 * a second in which the machine is slow then hits all of them.
 */
export async function addRound(bench: Bench, measured: Measured, round: Round): Promise<void> {
  const { load, database, contenders, flags = [] } = round
  const servers: Server[] = []
  try {
    for (const contender of contenders) {
      const { guard, keys, checkout } = contender
      const settings = { database: contender.database ?? database, keys }
      const how = { flags, checkout }
      const process = await bench.start<GuardedMethods>('guard/guarded-process.ts', how)
      const port = await process.call('start', guard, settings)
      servers.push({ contender, process, port })
    }
    // Each key several times: what is measured is a known key, in compiled code.
    for (const { contender, port } of servers) {
      await load.call('aim', port, CONNECTIONS, withKeys(contender.keys))
      await load.call('load', contender.requests)
    }
    const portions = new Map(servers.map((server) => [server, [] as number[]]))
    for (let turn = 0; turn < PORTIONS; turn++) {
      for (const server of turnsOf(servers, turn)) {
        portions.get(server)?.push(await measurePortion(load, server, turn))
      }
    }
    for (const [{ contender, process }, cpus] of portions) {
      const megabytes = await process.rssMegabytes()
      measured.get(contender.name)?.push({ cpu: summaryOf(cpus).median, megabytes })
    }
  } finally {
    for (const { process } of servers) await process.stop()
  }
}

async function measurePortion(
  load: Process<LoadMethods>,
  { contender, process, port }: Server,
  turn: number,
): Promise<number> {
  const requests = Math.ceil(contender.requests / PORTIONS)
  // Each portion goes on with the key after the last one of the portion before.
  await load.call('aim', port, CONNECTIONS, withKeys(rotated(contender.keys, turn * requests)))
  const { growth } = await growthOf({ cpu: process.cpu }, () =>
    load.call('load', requests, { sleepless: !contender.asksPostgres }),
  )
  return (growth.cpu ?? Number.NaN) / requests
}

function rotated<Item>(items: readonly Item[], by: number): Item[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
