/**
 * A storm: hosts publish, deliver, receive and answer while what can fail fails, in one schedule
 * after another. A host that was not killed lives through all of them.
 */
import pg from 'pg'
import { createDatabase, withDatabase } from '../support/databases.ts'
import { proxyPostgres, type PostgresProxy } from '../support/postgres-proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { createTables } from './afterwards.ts'
import type { Cluster, Owner } from './cluster/cluster.ts'
import { Hosts } from './hosts.ts'
import { newLedger, type Ledger, type Span } from './ledger.ts'
import { Network } from './network.ts'
import { startReceiver } from './receiver.ts'
import { runSchedule, type Report } from './run-schedule.ts'
import { watchStalls } from './stalls.ts'

export interface Storm {
  /** Runs the schedule of this seed, and compares what was promised in it with what came of it. */
  run(seed: number): Promise<Report>
  end(): Promise<void>
}

/** What the hosts of a storm connect to. */
export interface Place {
  /** How each host gets there. */
  ways: { url: string; proxies: PostgresProxy[] }[]
  /** A connection string past the faults of the network. */
  direct: string
  /** Shuts Postgres down at once, and starts it again; a cluster is struck in other ways. */
  restart: (() => void) | null
  cluster: Cluster | null
  /** How many a schedule has. */
  faults: number
}

const HOSTS = 2
const FAULTS = 6
const DATABASE = 'storm'
const QUERY_MS = 10_000

/** One server. It is of a storm's own: other storms must not feel its crashes. */
async function oneServer(owner: Owner): Promise<Place> {
  const postgres = await startPostgres()
  owner.teardown(postgres.stop)
  await createDatabase(postgres.url, DATABASE, 'template0')
  const direct = withDatabase(postgres.url, DATABASE)
  const proxies = await Promise.all(
    Array.from({ length: HOSTS }, () => proxyPostgres(owner, direct)),
  )
  const ways = proxies.map((proxy) => ({ url: proxy.url, proxies: [proxy] }))
  return { ways, direct, restart: postgres.restart, cluster: null, faults: FAULTS }
}

/** @param older where the older version of the host is, if it can be had */
export async function startStorm(
  older: string | null,
  startPlace: (owner: Owner) => Promise<Place> = oneServer,
): Promise<Storm> {
  const ends: (() => unknown)[] = []
  const end = async () => {
    for (const one of ends) await one()
  }
  try {
    const run = await begin({ teardown: (one) => void ends.unshift(one) }, older, startPlace)
    return { run, end }
  } catch (error) {
    await end()
    throw error
  }
}

async function begin(
  owner: Owner,
  older: string | null,
  startPlace: (owner: Owner) => Promise<Place>,
): Promise<Storm['run']> {
  let ledger: Ledger | null = null
  const stalled = (stall: Span) => void ledger?.disturbances.push({ kind: 'stall', ...stall })

  const { ways, direct: database, restart, cluster, faults } = await startPlace(owner)
  const direct = new pg.Pool({
    connectionString: database,
    max: 2,
    query_timeout: QUERY_MS,
    connectionTimeoutMillis: QUERY_MS,
  })
  direct.on('error', () => {})
  owner.teardown(() => direct.end())
  await createTables(direct)
  const network = new Network(ways.map(({ proxies }) => proxies))
  // They make the tables of the plugins, in turn.
  const hosts = new Hosts({ databases: ways.map(({ url }) => url), older, stalled })
  owner.teardown(() => hosts.endAll())
  owner.teardown(watchStalls(stalled))

  return async (seed) => {
    ledger = newLedger(seed, cluster?.isSynchronous === false)
    const receiver = await startReceiver(ledger)
    try {
      const world = { hosts, network, direct, restart, cluster, faults, receiver, ledger }
      return await runSchedule(world)
    } finally {
      ledger = null
      receiver.close()
    }
  }
}
