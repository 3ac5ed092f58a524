import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startPostgres, type Postgres } from '../../tests/support/postgres.ts'

/** Durable as in production (the server of the tests is not), with buffers for what is worked on. */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  wal_level: 'replica',
  max_connections: '200',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  // A server that has run for a while writes into WAL files that it has used before. A new one makes
  // each of them first: with zeros that is 16 MiB once a second under load, and every commit waits.
  wal_init_zero: 'off',
}

/** Reported with the figures, because nothing changes them more. */
const REPORTED = ['server_version', 'synchronous_commit', ...Object.keys(SETTINGS)]

export interface BenchServer extends Postgres {
  settings: Record<string, string>
}

/** The server that `DATABASE_URL` names, else a new one. */
export async function openServer({ statements = false }): Promise<BenchServer> {
  const given = process.env.DATABASE_URL
  const server = given
    ? { url: given, stop: async () => {} }
    : await startPostgres({
        ...SETTINGS,
        ...(statements ? { shared_preload_libraries: 'pg_stat_statements' } : {}),
      })
  const { rows } = await query(
    server.url,
    'select name, current_setting(name) as value from unnest($1::text[]) as name',
    [REPORTED],
  )
  const settings = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  return { ...server, settings }
}

export async function createDatabase(server: string): Promise<Postgres> {
  const name = `svc_bench_${randomBytes(5).toString('hex')}`
  await query(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    stop: async () => void (await query(server, `drop database if exists ${name} with (force)`)),
  }
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

/** The statements that took most of the server's time, for finding a bottleneck. */
export async function topStatements(server: string, limit = 12): Promise<string> {
  await query(server, 'create extension if not exists pg_stat_statements')
  const { rows } = await query(
    server,
    `select round(total_exec_time) || ' · ' || calls || ' · ' || rows || ' · ' ||
            round((total_exec_time / calls)::numeric, 3) || ' · ' ||
            left(regexp_replace(query, '\\s+', ' ', 'g'), 140) as line
       from pg_stat_statements
      order by total_exec_time desc
      limit $1`,
    [limit],
  )
  const lines = rows.map(({ line }) => String(line))
  return ['total ms · calls · rows · mean ms · statement', ...lines].join('\n')
}

/**
 * Copies rows many times within Postgres. Columns that are not named keep the value of the row.
 *
 * @param where which rows, as a condition on `row`
 * @param columns expressions over `row` and the number `n` of the copy, from 1 on
 */
export async function multiply(
  url: string,
  table: string,
  { where, count, columns }: { where: string; count: number; columns: Record<string, string> },
): Promise<void> {
  const { rows } = await query(
    url,
    `select attname as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
      order by attnum`,
    [table],
  )
  const names = rows.map(({ name }) => String(name))
  await query(
    url,
    `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')})
     select ${names.map((name) => columns[name] ?? `row."${name}"`).join(', ')}
       from ${table} as row, generate_series(1, ${count}) as n
      where ${where}`,
  )
  await query(url, `analyze ${table}`)
}
