/** Sessions of a test's own, beside those of its hosts. */
import pg from 'pg'
import type { Test } from 'tap'
import { until } from './until.ts'

/** A session that ends with the test, and may break before. */
export async function sessionOn(t: Pick<Test, 'teardown'>, database: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/**
 * Kills the server process of a session: Postgres ends all sessions, and recovers from what is on the disk.
 * Returns a session of the server that has come back.
 */
export async function crashBy(client: pg.Client, t: Test, database: string): Promise<pg.Client> {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const other = await sessionOn(t, database)
  const ended = new Promise<void>((resolve) => other.on('end', () => resolve()))
  process.kill(rows[0].pid, 'SIGKILL')
  // Until Postgres has noticed, it lets new sessions in, which see what is not on the disk.
  await ended
  const next = await until(() => sessionOn(t, database).catch(() => undefined))
  return next!
}

/** Runs statements in a session, and returns the rows of the last one. */
export async function queryOn(
  database: string,
  ...statements: (string | [text: string, values?: unknown[]])[]
  // oxlint-disable-next-line typescript/no-explicit-any -- as pg has it
): Promise<any[]> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    let rows: unknown[] = []
    for (const one of statements) rows = (await client.query(...([one].flat() as [string]))).rows
    return rows
  } finally {
    await client.end()
  }
}
