/**
 * What waits for the server to be so and so old must not make a test wait, and must not hang on when
 * the run of the tests began: each connection to the database is told this age from now on.
 */
import pg from 'pg'

export async function pretendServerAge(database: string, seconds: number): Promise<void> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    // The functions of Postgres are rows of each database.
    await client.query(`
      create or replace function pg_catalog.pg_postmaster_start_time() returns timestamptz
        language sql stable return now() - make_interval(secs => ${seconds})`)
  } finally {
    await client.end()
  }
}
