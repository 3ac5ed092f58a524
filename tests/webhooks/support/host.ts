/** A host with core and webhooks on a database of its own. */
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { svcWebhooks, type SvcWebhooksOptions, type WebhookWithSecret } from '@svc/webhooks'
import type { Test } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'

export interface HostOptions extends Partial<SvcWebhooksOptions> {
  /** @default a new one */
  database?: string
  core?: Omit<SvcCoreOptions, 'database'>
  logger?: FastifyServerOptions['logger']
}

export interface Host {
  app: FastifyInstance
  database: string
  /** Registers a webhook. */
  register: (url: string, events?: string[]) => Promise<WebhookWithSecret>
  /** Asks the management API. */
  ask: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ) => Promise<Answer>
}

export interface Answer {
  status: number
  headers: Record<string, unknown>
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test expects of it is its matter
  body: any
}

/** Retries come a second after a failure, and deliveries may go to loopback, unless told otherwise. */
export async function startHost(t: Test, options: HostOptions = {}): Promise<Host> {
  const { database = await freshDatabase(t), core = {}, logger, ...webhooks } = options
  const app = Fastify({
    logger: logger ?? { level: process.env['LOG_LEVEL'] ?? 'silent' },
    pluginTimeout: 60_000, // a boot takes long on a busy machine
  })
  t.teardown(() => app.close())
  await app.register(svcCore, {
    ...core,
    database: { connectionString: database, max: 4 },
    worker: { retryDelaySeconds: 1, retryBackoff: false, maxAttempts: 5, ...core.worker },
  })
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created', 'order.shipped'],
    allowedNetworks: ['127.0.0.0/8'],
    ...webhooks,
  })
  await app.ready()
  return {
    app,
    database,
    register: (url, events = ['*']) =>
      app.svc.actions.call('__svc.webhooks.register', { url, events }),
    async ask(method, path, body) {
      const reply = await app.inject({
        method,
        url: `/_webhooks${path}`,
        ...(body === undefined ? {} : { payload: body as object }),
      })
      const text = reply.body
      return {
        status: reply.statusCode,
        headers: reply.headers,
        body: text === '' ? undefined : JSON.parse(text),
      }
    },
  }
}
