/** The application: an ordinary Fastify host with both plugins. */
import Fastify, { type FastifyInstance } from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { hmac, svcWebhooks } from '@svc/webhooks'

export interface Host {
  app: FastifyInstance
  url: string
  /** What the application's own subscription was told of, in the order of arrival. */
  heard: { name: string; id: string; payload: unknown }[]
}

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
}

export async function startHost({ database, secrets, port }: HostOptions): Promise<Host> {
  const app = Fastify({ logger: { level: process.env.LOG_LEVEL ?? 'silent' } })
  const heard: Host['heard'] = []

  await app.register(svcCore, {
    database,
    secrets: (name) => secrets[name] ?? null,
    // The story is short: three attempts, a second apart.
    worker: { maxAttempts: 3, retryDelaySeconds: 1, retryBackoff: false },
  })
  await app.register(svcAuth, {
    bootstrapKeySecret: 'BOOTSTRAP_KEY',
    excludePaths: ['/health', '/hooks/github'],
  })
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created', 'order.shipped', 'order.lost'],
    deliveryTimeoutMs: 500,
    // The receiver of the demo listens on loopback, where deliveries never go unless allowed.
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

  await app.svc.events.subscribe('github.push', (payload, { id, name }) => {
    heard.push({ name, id, payload })
  })
  await app.svc.database.query(
    'create table orders (id int primary key generated always as identity, item text not null)',
  )
  app.get('/health', () => ({ status: 'ok' }))
  app.get('/orders', async () => (await app.svc.database.query('select * from orders')).rows)
  app.post<{ Body: NewOrder }>('/orders', async ({ body }, reply) =>
    reply.code(201).send(await placeOrder(app, body)),
  )
  try {
    const url = await app.listen({ port, host: '127.0.0.1' })
    return { app, url, heard }
  } catch (error) {
    await app.close()
    throw error
  }
}

/** The order and its event are written together, or not at all. */
async function placeOrder(
  app: FastifyInstance,
  { item, event = 'order.created', fail = false }: NewOrder,
): Promise<{ id: number; item: string }> {
  const client = await app.svc.database.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ id: number; item: string }>(
      'insert into orders (item) values ($1) returning id, item',
      [item],
    )
    const order = rows[0]!
    await app.svc.events.publish(event, order, { db: client })
    if (fail) throw new Error('the card was refused')
    await client.query('commit')
    return order
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}
