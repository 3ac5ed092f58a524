/** The Postgres of the storms: one server for all of them, and a new database for each. */
import type { Test } from 'tap'
import { createDatabase, dropDatabase, withDatabase } from '../support/databases.ts'
import { startPostgres } from '../support/postgres.ts'
import { migrateTemplate } from '../support/template.ts'

export interface Ground {
  /** A database with the tables of the plugins, dropped when the test ends. */
  database(t: Test): Promise<string>
}

const TEMPLATE = 'storm_template'

/** A server of its own: other tests must not feel its crashes. */
export async function startGround(t: Test): Promise<Ground> {
  const { url, stop } = await startPostgres()
  t.teardown(stop)
  await createDatabase(url, TEMPLATE, 'template0')
  await migrateTemplate(withDatabase(url, TEMPLATE))
  let count = 0
  return {
    async database(t) {
      const name = `storm_${++count}`
      await createDatabase(url, name, TEMPLATE)
      t.teardown(() => dropDatabase(url, name))
      return withDatabase(url, name)
    },
  }
}
