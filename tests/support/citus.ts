/**
 * `pnpm test --citus URL`: the tests on a cluster of Citus. Each database of a test is made on all nodes,
 * with the extension, and the coordinator's knows them.
 */
import pg from 'pg'

import { createDatabase, withDatabase } from './databases.ts'
import { queryOn } from './session.ts'

/** What names the cluster for `startRun`, and for the storms that start one of their own. */
export const CITUS_VARIABLE = 'SVC_TEST_CITUS'

/** The argument of a run, and all others. */
export function splitCitus(given: readonly string[]): {
  citus: string | undefined
  others: string[]
} {
  const others = [...given]
  const at = others.findIndex((argument) => /^--citus(=|$)/.test(argument))
  if (at < 0) return { citus: undefined, others }
  const [flag = ''] = others.splice(at, 1)
  const citus = flag.includes('=') ? flag.slice('--citus='.length) : others.splice(at, 1)[0]
  if (!URL.parse(citus ?? '')?.host) {
    throw new Error(
      '--citus takes the address of a database that is the coordinator of a cluster, such as postgres://postgres@localhost:5432/app',
    )
  }
  return { citus, others }
}

/** A node of a cluster, as the others reach it. */
export interface Node {
  host: string
  port: number
}

interface Cluster {
  coordinator: Node
  workers: Node[]
  version: string
}

/** Reads the nodes from the metadata of the coordinator. */
export async function findCluster(url: string): Promise<Cluster> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows: extension } = await client.query(
      `select extversion as version from pg_extension where extname = 'citus'`,
    )
    if (extension.length === 0) throw new Error(`--citus: the database has no extension citus`)
    const { rows } = await client.query<Node & { isCoordinator: boolean }>(
      `select nodename as host, nodeport as port, groupid = 0 as "isCoordinator"
         from pg_dist_node where noderole = 'primary' order by groupid`,
    )
    const coordinator = rows.find(({ isCoordinator }) => isCoordinator)
    const workers = rows.filter(({ isCoordinator }) => !isCoordinator)
    if (!coordinator || workers.length === 0) {
      throw new Error('--citus: the metadata must have the coordinator and a worker')
    }
    return { coordinator, workers, version: extension[0].version }
  } finally {
    await client.end()
  }
}

/** The server of a node, reached as `url` reaches another one. */
export function serverOf(url: string, { host, port }: Node): string {
  const server = new URL(url)
  server.hostname = host
  server.port = String(port)
  return server.href
}

/** Makes an empty database on all nodes. `first` is run on each before they know each other. */
export async function createEmpty(
  servers: readonly string[],
  nodes: readonly Node[],
  name: string,
  first: readonly string[] = [],
): Promise<void> {
  for (const server of servers) {
    await createDatabase(server, name, 'template0')
    await queryOn(withDatabase(server, name), 'create extension citus', ...first)
  }
  const [coordinator, ...workers] = nodes
  await queryOn(
    withDatabase(servers[0]!, name),
    `select citus_set_coordinator_host('${coordinator!.host}', ${coordinator!.port})`,
    ...workers.map(({ host, port }) => `select citus_add_node('${host}', ${port})`),
  )
}

/** From now on it is cloned alone: the background worker of Citus would be connected to it. */
export async function closeDatabase(server: string, name: string): Promise<void> {
  await queryOn(
    server,
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  )
}
