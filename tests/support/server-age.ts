/**
 * What waits for the server to be so and so old must not make a test wait, and must not hang on when
 * the run of the tests began: each connection to the database is told this age from now on.
 */
import { queryOn } from './session.ts'

export async function pretendServerAge(database: string, seconds: number): Promise<void> {
  // The functions of Postgres are rows of each database.
  await queryOn(
    database,
    `create or replace function pg_catalog.pg_postmaster_start_time() returns timestamptz
       language sql stable return now() - make_interval(secs => ${seconds})`,
  )
}
