/** A host with core alone, on a database of its own. */
import type { FastifyInstance } from 'fastify'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { useCore, type Core } from '@svc/core/internal'
import type { Test } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { newHost } from '../../support/new-host.ts'

export interface Host {
  app: FastifyInstance
  core: Core
  /** Its connection string. */
  database: string
  /** What was logged, one object a line. */
  log: Record<string, unknown>[]
}

export interface HostOptions {
  /** @default a new one */
  database?: string
  core?: SvcCoreOptions
  /** Runs before the host is ready. */
  setUp?: (app: FastifyInstance, core: Core) => unknown
}

/** Retries come at once, unless told otherwise. */
export async function startHost(t: Test, options: HostOptions = {}): Promise<Host> {
  const database = options.database ?? (await freshDatabase(t))
  const log: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line)) }
  // A boot takes long on a busy machine.
  const app = newHost(t, { logger: { level: 'debug', stream } })
  await app.register(svcCore, {
    // A busy machine may take long to give a connection to all who wait for one.
    database: { connectionString: database, max: 4, connectionTimeoutMillis: 60_000 },
    ...options.core,
    worker: { retryDelaySeconds: 0, maxAttempts: 3, ...options.core?.worker },
  })
  const core = await useCore(app)
  await options.setUp?.(app, core)
  await app.ready()
  return { app, core, database, log }
}
