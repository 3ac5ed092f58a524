/**
 * A storm: hosts publish, deliver, receive and answer while what can fail fails, in one schedule
 * after another. A host that was not killed lives through all of them.
 */
import pg from 'pg'
import { createDatabase, withDatabase } from '../support/databases.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { createTables } from './afterwards.ts'
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

const HOSTS = 2
const DATABASE = 'storm'
const QUERY_MS = 10_000

/** @param older where the older version of the host is, if it can be had */
export async function startStorm(older: string | null): Promise<Storm> {
  const ends: (() => unknown)[] = []
  const owner = { teardown: (end: () => unknown) => void ends.unshift(end) }
  let ledger: Ledger | null = null
  const stalled = (stall: Span) => void ledger?.disturbances.push({ kind: 'stall', ...stall })

  // A server of its own: other storms must not feel its crashes.
  const postgres = await startPostgres()
  owner.teardown(postgres.stop)
  await createDatabase(postgres.url, DATABASE, 'template0')
  const database = withDatabase(postgres.url, DATABASE)
  const direct = new pg.Pool({
    connectionString: database,
    max: 2,
    query_timeout: QUERY_MS,
    connectionTimeoutMillis: QUERY_MS,
  })
  direct.on('error', () => {})
  owner.teardown(() => direct.end())
  await createTables(direct)
  const proxies = await Promise.all(
    Array.from({ length: HOSTS }, () => proxyPostgres(owner, database)),
  )
  const network = new Network(proxies)
  // They make the tables of the plugins, in turn.
  const hosts = new Hosts({ databases: proxies.map(({ url }) => url), older, stalled })
  owner.teardown(() => hosts.endAll())
  owner.teardown(watchStalls(stalled))

  return {
    async run(seed) {
      ledger = newLedger(seed)
      const receiver = await startReceiver(ledger)
      try {
        const { restart } = postgres
        return await runSchedule({ hosts, network, direct, restart, receiver, ledger })
      } finally {
        ledger = null
        receiver.close()
      }
    },
    async end() {
      for (const end of ends) await end()
    },
  }
}
