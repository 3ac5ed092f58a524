import { randomBytes } from 'node:crypto'

import { createDatabase, dropDatabase, withDatabase } from './databases.ts'
import { currentRun } from './test-run.ts'

/** What is needed of tap's `t`. */
interface Test {
  teardown(task: () => Promise<void>): unknown
}

/**
 * A new database with the tables of all plugins in it, and nothing else; dropped when the test ends.
 * tap runs teardowns last one first: whatever is closed after this call is closed before the drop.
 *
 * @returns its connection string
 */
export async function freshDatabase(t: Test): Promise<string> {
  const { template } = await currentRun()
  return databaseFor(t, template)
}

/** A new database as Postgres makes it, without a table of ours; dropped when the test ends. */
export async function emptyDatabase(t: Test): Promise<string> {
  const { empty } = await currentRun()
  return databaseFor(t, empty)
}

/** An empty database of another encoding or collation: `options` as `create database` takes them. Without Citus. */
export const emptyDatabaseWith = (t: Test, options: string): Promise<string> =>
  databaseFor(t, `template0 ${options}`)

async function databaseFor(t: Test, template: string): Promise<string> {
  const run = await currentRun()
  const name = `${run.name}_${randomBytes(5).toString('hex')}`
  const servers = [run.server, ...run.workers]
  await Promise.all(servers.map((server) => createDatabase(server, name, template)))
  t.teardown(async () => {
    for (const server of servers) await dropDatabase(server, name)
  })
  return withDatabase(run.server, name)
}
