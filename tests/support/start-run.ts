import { randomBytes } from 'node:crypto'

import { CITUS_VARIABLE, closeDatabase, createEmpty, findCluster, serverOf } from './citus.ts'
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
  const citus = process.env[CITUS_VARIABLE]
  const { url: server, stop } = citus ? { url: citus, stop: async () => {} } : await usePostgres()
  const name = `svc_test_${randomBytes(5).toString('hex')}`
  const template = `${name}_template`
  try {
    const cluster = citus ? await findCluster(citus) : undefined
    const workers = cluster?.workers.map((node) => serverOf(server, node)) ?? []
    const servers = [server, ...workers]
    // The sessions come before the first database: no moment in which another run could sweep it.
    const endSessions = await Promise.all(servers.map((one) => openSession(one, name)))
    const end = async () => {
      for (const one of servers) await dropDatabasesOf(one, name)
      for (const endSession of endSessions) await endSession()
      await stop()
    }
    for (const one of servers) await sweepDatabases(one)
    const empty = cluster ? `${name}_empty` : 'template0'
    if (cluster) {
      await createEmpty(servers, [cluster.coordinator, ...cluster.workers], empty)
      for (const one of servers) await closeDatabase(one, empty)
    }
    for (const one of servers) await createDatabase(one, template, empty)
    const { postgres, fastify } = await migrateTemplate(withDatabase(server, template))
    if (cluster) for (const one of servers) await closeDatabase(one, template)
    const versions = [
      `Node ${process.versions.node}`,
      `Postgres ${postgres}`,
      ...(cluster ? [`Citus ${cluster.version} with ${workers.length} workers`] : []),
      `Fastify ${fastify}`,
    ].join(', ')
    return { run: { server, workers, name, empty, template }, versions, end }
  } catch (error) {
    await stop()
    throw error
  }
}
