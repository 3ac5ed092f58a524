// A host with inbound sources on a database of its own.
import Fastify, { type FastifyInstance } from 'fastify'
import { svcCore } from '@svc/core'
import { svcWebhooks, type InboundSource, type SvcWebhooksOptions } from '@svc/webhooks'
import { freshDatabase } from '../../support/fresh-database.ts'

/** What is needed of tap's `t`. */
interface Test {
  teardown(task: () => Promise<void>): unknown
}

export interface LogLine {
  level: number
  msg: string
  source?: string
  reason?: string
  [field: string]: unknown
}

export interface Host {
  app: FastifyInstance
  database: string
  /** What was logged, oldest first. */
  log: LogLine[]
  /** What a test may change while the host runs. */
  secrets: Record<string, string | null>
}

export interface HostOptions {
  secrets?: Record<string, string | null>
  bodyLimitBytes?: number
  inboundLog?: SvcWebhooksOptions['inboundLog']
  inboundTests?: boolean
  /** @default false */
  http2?: boolean
  /** Whatever the host does besides, before its sources are registered. */
  before?: (app: FastifyInstance) => unknown
}

export async function hostOf(
  t: Test,
  inbound: Record<string, InboundSource>,
  {
    secrets = {},
    bodyLimitBytes = 1_048_576,
    inboundLog,
    inboundTests,
    http2 = false,
    before,
  }: HostOptions = {},
): Promise<Host> {
  const database = await freshDatabase(t)
  const log: LogLine[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line) as LogLine) }
  // A boot takes long on a busy machine.
  const options = { logger: { level: 'info', stream }, pluginTimeout: 60_000 }
  const app = http2
    ? (Fastify({ ...options, http2 }) as unknown as FastifyInstance)
    : Fastify(options)
  t.teardown(() => app.close())
  await before?.(app)
  await app.register(svcCore, {
    database: { connectionString: database, max: 5 },
    secrets: (name) => secrets[name],
    worker: { retryDelaySeconds: 0, retryBackoff: false, maxAttempts: 2 },
  })
  const kept = { ...(inboundLog !== undefined && { inboundLog }), inboundTests }
  await app.register(svcWebhooks, { allowedEvents: [], inbound, bodyLimitBytes, ...kept })
  return { app, database, log, secrets }
}

/** The events that are in the database, oldest first. */
export async function eventsOf(
  app: FastifyInstance,
): Promise<{ name: string; id: string; payload: string }[]> {
  const { rows } = await app.svc.database.query<{ name: string; id: string; payload: string }>(
    'select name, id, payload from svc."__svc.events" order by published_at, id',
  )
  return rows
}
