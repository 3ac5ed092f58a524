// Databases of a server, each named after the run that it belongs to: svc_test_<run>_<which>.
// A run is alive as long as its session is: a connection under the run's name.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { queryOn } from './session.ts'

/** Its files are copied: to write each page of them to the log as well takes three times the CPU. */
export async function createDatabase(
  server: string,
  name: string,
  template: string,
): Promise<void> {
  await queryOn(server, `create database ${name} template ${template} strategy file_copy`)
}

/** For how long connections that were closed may take to end in the server. */
const CLOSING_MS = 3000

/**
 * A pool reports its end before the server has ended its connections: if the database were dropped at
 * once, the pool would still get the error that its connection was terminated. Connections that were
 * never closed are terminated.
 */
export async function dropDatabase(server: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  const isConnected = async () =>
    (
      await client.query(
        // Nodes of Citus keep connections to each other.
        `select from pg_stat_activity where datname = $1 and backend_type = 'client backend'
            and application_name not like 'citus%'`,
        [name],
      )
    ).rowCount !== 0
  try {
    const deadline = performance.now() + CLOSING_MS
    while ((await isConnected()) && performance.now() < deadline) await pause(20)
    const drop = () => client.query(`drop database if exists ${name} with (force)`)
    // The background worker of Citus may connect meanwhile, and is not terminated by force.
    await drop().catch((error: { code?: string }) => {
      if (error.code === '55006') return drop()
      throw error
    })
  } finally {
    await client.end()
  }
}

export function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export async function dropDatabasesOf(server: string, run: string): Promise<void> {
  const rows = await queryOn(server, [
    'select datname from pg_database where datname like $1',
    [`${run.replaceAll('_', '\\_')}\\_%`],
  ])
  for (const { datname } of rows) await dropDatabase(server, datname)
}

/** Drops what was left by runs that were killed. Two runs may do so at the same time. */
export async function sweepDatabases(server: string): Promise<void> {
  const rows = await queryOn(
    server,
    `select datname
     from pg_database d
     where datname ~ '^svc_test_[0-9a-f]+_'
       and pg_has_role(d.datdba, 'usage')
       and not exists (
         select from pg_stat_activity a
         where a.application_name = substring(d.datname from '^svc_test_[0-9a-f]+')
       )`,
  )
  for (const { datname } of rows) await dropDatabase(server, datname)
}

/** Opens the session that shows a run to be alive. It does not keep this process alive. */
export async function openSession(server: string, run: string): Promise<() => Promise<void>> {
  const host = URL.parse(server)?.host // without the password
  if (host === undefined) {
    throw new Error('DATABASE_URL must look like postgres://user:password@host:5432/database.')
  }
  const session = new pg.Client({
    connectionString: server,
    application_name: run,
    keepAlive: true,
  }) as pg.Client & { ref(): void; unref(): void } // which its types do not mention
  session.on('error', () => {}) // the server went away: the tests will say so
  await session.connect().catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `There is no Postgres to be reached at ${host} (${error.message || error.code}): start one with "docker compose up -d --wait", correct DATABASE_URL, or unset it to have one started.`,
    )
  })
  session.unref()
  return async () => {
    session.ref()
    await session.end()
  }
}
