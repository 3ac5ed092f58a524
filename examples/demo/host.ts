/** The application: an ordinary Fastify host with both plugins, and with the console where it is asked for. */
import Fastify, { type FastifyInstance } from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcConsole } from '@svc/console'
import { svcCore } from '@svc/core'
import { hmac, svcWebhooks } from '@svc/webhooks'
import { lifeEvents } from './life.ts'

export interface Host {
  app: FastifyInstance
  url: string
  /** The events that the application's own subscription has handled. */
  handled: { name: string; id: string; payload: unknown }[]
}

const ORDER_EVENTS = ['order.created', 'order.shipped', 'order.lost']

interface NewOrder {
  item: string
  /** @default order.created */
  event?: string
  fail?: boolean
}

interface HostOptions {
  database: string
  secrets: Record<string, string>
  port: number
  /** With the console, and the events that it shows. */
  withConsole: boolean
}

export async function startHost({
  database,
  secrets,
  port,
  withConsole,
}: HostOptions): Promise<Host> {
  const app = Fastify({
    logger: { level: process.env.LOG_LEVEL ?? 'silent' },
    // Ctrl-C ends the demo at once: a connection that a client holds open does not delay it.
    forceCloseConnections: true,
  })
  const handled: Host['handled'] = []

  await app.register(svcCore, {
    database,
    secrets: (name) => secrets[name] ?? null,
    // The demo is short: three attempts, one second apart.
    worker: { maxAttempts: 3, retryDelaySeconds: 1, retryBackoff: false },
    ...(withConsole && { events: lifeEvents }),
  })
  await app.register(svcAuth, {
    bootstrapKeySecret: 'BOOTSTRAP_KEY',
    scopes: ['orders:read', 'orders:write'],
    excludePaths: ['/health', '/hooks/github'],
  })
  await app.register(svcWebhooks, {
    allowedEvents: [...ORDER_EVENTS, ...(withConsole ? Object.keys(lifeEvents) : [])],
    deliveryTimeoutMs: 2000,
    // The demo's receiver listens on loopback, which deliveries may not reach by default.
    allowedNetworks: ['127.0.0.0/8'],
    inbound: {
      github: {
        path: '/hooks/github',
        publishAs: 'github.push',
        verify: hmac({
          signatureHeader: 'x-hub-signature-256',
          secretName: 'GITHUB_SECRET',
          prefix: 'sha256=',
        }),
        deduplicationKey: ({ headers }) => String(headers['x-github-delivery'] ?? '') || null,
      },
    },
  })

  if (withConsole) await app.register(svcConsole, { theme: { name: 'Demo' } })

  await app.svc.events.subscribe('github.push', (payload, { id, name }) => {
    handled.push({ name, id, payload })
  })
  await app.svc.database.query(
    'create table orders (id int primary key generated always as identity, item text not null)',
  )
  app.get('/health', () => ({ status: 'ok' }))
  app.get('/orders', { config: { scopes: ['orders:read'] } }, async () => {
    const { rows } = await app.svc.database.query('select * from orders')
    return rows
  })
  app.post<{ Body: NewOrder }>(
    '/orders',
    { config: { scopes: ['orders:write'] } },
    async ({ body }, reply) => reply.code(201).send(await placeOrder(app, body)),
  )
  try {
    const url = await app.listen({ port, host: '127.0.0.1' })
    return { app, url, handled }
  } catch (error) {
    await app.close()
    throw error
  }
}

/** The order and its event are committed together, or neither is. */
const placeOrder = (
  app: FastifyInstance,
  { item, event = 'order.created', fail = false }: NewOrder,
): Promise<{ id: number; item: string }> =>
  app.svc.transaction(async (db) => {
    const { rows } = await db.query('insert into orders (item) values ($1) returning id, item', [
      item,
    ])
    await app.svc.events.publish(event, rows[0], { db })
    if (fail) throw new Error('the card was refused')
    return rows[0]
  })
