/** A cluster of Citus of a storm's own: other tests must not feel its crashes. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { createEmpty, serverOf, type Node } from '../../support/citus.ts'
import { withDatabase } from '../../support/databases.ts'
import { startPostgres, type OwnPostgres } from '../../support/postgres.ts'
import { queryOn } from '../../support/session.ts'
import { until } from '../../support/until.ts'

const SETTINGS = {
  shared_preload_libraries: 'citus',
  max_prepared_transactions: '200',
  max_worker_processes: '64',
  // Shards move by logical replication.
  wal_level: 'logical',
  max_wal_senders: '20',
  'citus.recover_2pc_interval': '1s',
  'citus.node_conninfo': 'sslmode=disable',
}
const DATABASE = 'storm'
const WORKERS = 2

export interface StormCluster {
  /** Of the database on the coordinator. */
  database: string
  coordinator: OwnPostgres
  workers: OwnPostgres[]
  /** Starts one more worker, and makes it known to the coordinator. */
  addWorker(): Promise<void>
  stop(): Promise<void>
}

/** The programs of the server that is named, where they are on this machine. */
export async function binariesOf(server: string): Promise<string | undefined> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    const { rows } = await client.query(`select setting from pg_config where name = 'BINDIR'`)
    const folder = rows[0].setting as string
    return await access(join(folder, 'initdb')).then(
      () => folder,
      () => undefined,
    )
  } finally {
    await client.end()
  }
}

export async function startCluster(binaries: string): Promise<StormCluster> {
  const all = await Promise.all(
    Array.from({ length: 1 + WORKERS }, () => startPostgres(SETTINGS, { binaries })),
  )
  const [coordinator, ...workers] = all as [OwnPostgres, ...OwnPostgres[]]
  const { password } = new URL(coordinator.url)
  // Nodes connect to each other as the same role, with one password.
  const first = [
    `insert into pg_dist_authinfo values (0, 'postgres', 'password=${password}')`,
  ] as const
  const share = (worker: OwnPostgres) =>
    queryOn(worker.url, `alter role postgres password '${password}'`)
  await Promise.all(workers.map(share))
  const servers = all.map(({ url }) => serverOf(coordinator.url, nodeOf(url)))
  await createEmpty(
    servers,
    all.map(({ url }) => nodeOf(url)),
    DATABASE,
    first,
  )
  const database = withDatabase(coordinator.url, DATABASE)
  return {
    database,
    coordinator,
    workers,
    async addWorker() {
      const worker = await startPostgres(SETTINGS, { binaries })
      workers.push(worker)
      await share(worker)
      const node = nodeOf(worker.url)
      const its = serverOf(coordinator.url, node)
      await queryOn(its, `create database ${DATABASE}`)
      await queryOn(withDatabase(its, DATABASE), 'create extension citus', ...first)
      // Another node may be down at this moment.
      await until(() =>
        queryOn(database, `select citus_add_node('${node.host}', ${node.port})`).then(
          () => true,
          () => false,
        ),
      )
    },
    async stop() {
      await Promise.all([coordinator, ...workers].map((server) => server.stop()))
    },
  }
}

function nodeOf(url: string): Node {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}
