// A run of the tests has one server and one template, which the databases of its tests are clones of.
import { randomBytes } from 'node:crypto'

import {
  createDatabase,
  dropDatabasesOf,
  openSession,
  sweepDatabases,
  withDatabase,
} from './databases.ts'
import { usePostgres } from './postgres.ts'
import { migrateTemplate } from './template.ts'

export interface TestRun {
  /** Connection string to a database from which others can be created. */
  server: string
  /** What the names of all its databases begin with. */
  name: string
  template: string
}

/** The environment variable by which `run.ts` tells test files which run they are part of. */
export const RUN_VARIABLE = 'SVC_TEST_RUN'

export async function startRun(): Promise<{ run: TestRun; end(): Promise<void> }> {
  const { url: server, stop } = await usePostgres()
  const name = `svc_test_${randomBytes(5).toString('hex')}`
  const template = `${name}_template`
  try {
    // The session comes before the first database: no moment in which another run could sweep it.
    const endSession = await openSession(server, name)
    const end = async () => {
      await dropDatabasesOf(server, name)
      await endSession()
      await stop()
    }
    await sweepDatabases(server)
    await createDatabase(server, template, 'template0')
    await migrateTemplate(withDatabase(server, template))
    return { run: { server, name, template }, end }
  } catch (error) {
    await stop()
    throw error
  }
}

let own: Promise<TestRun> | undefined

/** The run of this test file. A file that was started without `run.ts` is a run of its own. */
export function currentRun(): Promise<TestRun> {
  const given = process.env[RUN_VARIABLE]
  if (given) return Promise.resolve(JSON.parse(given) as TestRun)
  return (own ??= ownRun())
}

async function ownRun(): Promise<TestRun> {
  const { default: t } = await import('tap')
  const { run, end } = await startRun()
  t.teardown(end)
  return run
}
