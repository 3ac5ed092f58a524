import pg from 'pg'
import type { Test } from 'tap'

/** A session of a test's own, until its end: it may break with its server. */
export async function connect(t: Pick<Test, 'teardown'>, url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}
