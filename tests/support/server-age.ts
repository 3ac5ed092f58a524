/**
 * What waits for the server to be so and so old must not make a test wait, and must not hang on when
 * the run of the tests began: each connection made to the database from now on is told this age.
 */
import pg from 'pg'

export async function pretendServerAge(database: string, seconds: number): Promise<void> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    await client.query(`
      create schema server_age;
      create function server_age.pg_postmaster_start_time() returns timestamptz
        language sql stable return now() - make_interval(secs => ${seconds});
      do $$ begin
        execute format(
          'alter database %I set search_path = server_age, pg_catalog, public', current_database());
      end $$`)
  } finally {
    await client.end()
  }
}
