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
import type { TestRun } from './test-run.ts'

interface StartedRun {
  run: TestRun
  /** Of what the tests run on. */
  versions: string
  end: () => Promise<void>
}

/** Finds or starts the server, sweeps what killed runs have left there, and makes the template. */
export async function startRun(): Promise<StartedRun> {
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
    const { postgres, fastify } = await migrateTemplate(withDatabase(server, template))
    const versions = `Node ${process.versions.node}, Postgres ${postgres}, Fastify ${fastify}`
    return { run: { server, name, template }, versions, end }
  } catch (error) {
    await stop()
    throw error
  }
}
