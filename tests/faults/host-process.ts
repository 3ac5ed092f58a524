/**
 * A host of the storm, in a process of its own: `node host-process.ts <database> <clock offset in ms>`.
 * Says its port when it is ready.
 */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { hmac, svcWebhooks } from '@svc/webhooks'
import { SENDER_SECRET } from './sender.ts'

const [database = '', offset = '0'] = process.argv.slice(2)
if (offset !== '0') {
  const now = Date.now.bind(Date)
  Date.now = () => now() + Number(offset)
}

const app = Fastify({ pluginTimeout: 60_000 })
await app.register(svcCore, {
  database: { connectionString: database, max: 6 },
  secrets: () => SENDER_SECRET,
  worker: { retryDelaySeconds: 1, retryBackoff: false, maxAttempts: 1000 },
})
await app.register(svcAuth, { excludePaths: ['/control/*', '/hooks/sender'] })
await app.register(svcWebhooks, {
  allowedEvents: ['order.created'],
  allowedNetworks: ['127.0.0.0/8'],
  deliveryTimeoutMs: 3000,
  inbound: {
    sender: {
      path: '/hooks/sender',
      publishAs: 'sender.sent',
      verify: hmac({ signatureHeader: 'x-signature', secretName: 'SENDER' }),
      deduplicationKey: (request) => request.headers['x-id'] ?? null,
    },
  },
})

const { database: pool, events } = app.svc
/** The handler commits its row, and may be called again after a kill: the row stays one. */
const handle = async (
  payload: { id: string },
  { id: eventId, name }: { id: string; name: string },
) =>
  void (await pool.query('insert into handled values ($1, $2, $3) on conflict do nothing', [
    name,
    eventId,
    payload.id,
  ]))
await events.subscribe('order.created', handle)
await events.subscribe('sender.sent', handle)

app.post<{ Body: { id: string } }>('/control/publish', async ({ body }) => {
  await events.publish('order.created', body, { id: body.id })
  return {}
})
app.post<{ Body: { id: string } }>('/control/order', async ({ body }) =>
  app.svc.transaction(async (db) => {
    await db.query('insert into orders values ($1)', [body.id])
    await events.publish('order.created', body, { id: body.id, db })
    return {}
  }),
)
app.post<{ Body: { quota?: number } }>('/control/key', async ({ body: { quota } }) => {
  const user = await app.svc.auth.createUser({ email: `${randomUUID()}@example.com`, name: 'User' })
  return app.svc.auth.createApiKey({
    userId: user.id,
    ...(quota !== undefined && { quota: { limit: quota, period: 'total' } }),
  })
})
app.post<{ Body: { url: string } }>('/control/webhook', ({ body: { url } }) =>
  app.svc.webhooks.register({ url, events: ['order.created'] }),
)
app.post<{ Body: { keyId: string } }>('/control/revoke', async ({ body }) => {
  await app.svc.auth.revokeApiKey(body.keyId)
  return {}
})
app.get('/work', async () => ({}))

await app.listen({ port: 0, host: '127.0.0.1' })
process.send!({ port: (app.server.address() as AddressInfo).port })
