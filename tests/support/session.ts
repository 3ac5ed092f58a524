/** Sessions of a test's own, beside those of its hosts. */
import pg from 'pg'
import type { Test } from 'tap'

/** A session that ends with the test, and may break before. */
export async function sessionOn(t: Pick<Test, 'teardown'>, database: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
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
