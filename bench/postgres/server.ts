import pg from 'pg'
import { startPostgres, type Postgres } from '../../tests/support/postgres.ts'

/**
 * What a server of our own runs with: durable as in production (the tests' server is not), and
 * buffers that hold what is worked on, as anybody would give it.
 */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  wal_level: 'replica',
  max_connections: '200',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
}

/** Told with every report: they move the figures more than anything else. */
const TOLD = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_level',
  'shared_buffers',
  'max_wal_size',
  'max_connections',
]

export interface BenchServer extends Postgres {
  settings: Record<string, string>
}

/** The server that `DATABASE_URL` names, else one of our own, new for each benchmark. */
export async function openServer({ statements = false }): Promise<BenchServer> {
  const given = process.env.DATABASE_URL
  const server = given
    ? { url: given, stop: async () => {} }
    : await startPostgres({
        ...SETTINGS,
        ...(statements ? { shared_preload_libraries: 'pg_stat_statements' } : {}),
      })
  return { ...server, settings: await settingsOf(server.url) }
}

async function settingsOf(url: string): Promise<Record<string, string>> {
  const { rows } = await query(
    url,
    `select name, current_setting(name) as value from unnest($1::text[]) as name`,
    [TOLD],
  )
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** One statement on a connection of its own. */
export async function query(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(text, values)
  } finally {
    await client.end()
  }
}
