/**
 * A host of the storm, in a process of its own: `node host-process.ts <database> <options in JSON>`.
 * Tells its port when it is ready, and later when it had no turn. The older version runs it too.
 */
import { randomUUID } from 'node:crypto'
import { flushCompileCache } from 'node:module'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { svcAuth, type NewApiKey } from '@svc/auth'
import { svcCore } from '@svc/core'
import { hmac, svcWebhooks, type NewWebhook } from '@svc/webhooks'
import { SENDER_SECRET, type HostOptions } from './host-options.ts'
import { MACHINE_CLOCK_MS, watchStalls } from './stalls.ts'

const [database = '', options = '{}'] = process.argv.slice(2)
const { offsetMs = 0, isOther = false } = JSON.parse(options) as HostOptions
const LOCKOUT = { maxAttempts: 50, windowMs: 60_000, blockDurationMs: 1000 }
let offset = offsetMs
const now = Date.now.bind(Date)
Date.now = () => now() + offset
// `new Date()` does not ask `Date.now`.
globalThis.Date = new Proxy(Date, {
  construct: (date, given: unknown[], made) =>
    Reflect.construct(date, given.length === 0 ? [Date.now()] : given, made) as Date,
})
process.on('message', (told: HostOptions) => {
  offset = told.offsetMs ?? 0
})
// The storm is over, however it has ended.
process.once('disconnect', () => process.exit())

const app = Fastify({ pluginTimeout: 60_000 })
await app.register(svcCore, {
  database: { connectionString: database, max: 6 },
  secrets: () => SENDER_SECRET,
  worker: { retryDelaySeconds: 1, retryBackoff: false, maxAttempts: 1000 },
})
await app.register(svcAuth, {
  excludePaths: ['/control/*', '/hooks/sender'],
  ...(isOther && { usage: false, rateLimit: LOCKOUT }),
})
await app.register(svcWebhooks, {
  allowedEvents: ['order.created', 'order.step', ...(isOther ? ['order.other'] : [])],
  allowedNetworks: ['127.0.0.0/8'],
  deliveryTimeoutMs: isOther ? 2000 : 3000,
  deliveryLogRetentionDays: isOther ? 1 : 30,
  ...(isOther && { standardWebhooks: false }),
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
const subscribe = (event: string, subscription: string) =>
  events.subscribe(
    event,
    async (payload: { id: string }, { id: eventId }) =>
      void (await pool.query('insert into handled values ($1, $2, $3, $4) on conflict do nothing', [
        subscription,
        event,
        eventId,
        payload.id,
      ])),
    { subscription },
  )
await subscribe('order.created', 'order.created')
await subscribe('sender.sent', 'sender.sent')
await subscribe('sender.sent', 'second')
if (isOther) await subscribe('order.other', 'other')

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
app.post<{ Body: { id: string } }>('/control/step', async ({ body }) => {
  await events.publish('order.step', body, { id: body.id })
  return {}
})
app.post<{ Body: Partial<NewApiKey> }>('/control/key', async ({ body }) => {
  const user = await app.svc.auth.createUser({ email: `${randomUUID()}@example.com`, name: 'User' })
  return app.svc.auth.createApiKey({ ...body, userId: user.id })
})
app.post<{ Body: NewWebhook }>('/control/webhook', ({ body }) => app.svc.webhooks.register(body))
app.post<{ Body: { keyId: string } }>('/control/revoke', async ({ body }) => {
  await app.svc.auth.revokeApiKey(body.keyId)
  return {}
})
app.post<{ Body: { id: string } }>('/control/unregister', async ({ body }) => {
  await app.svc.webhooks.delete(body.id)
  return {}
})
app.get('/control/health', () => {
  // An older version does not have it.
  const { health } = app.svc as Partial<typeof app.svc>
  return health ? health() : { ok: true }
})
app.get('/work', async () => ({}))

await app.listen({ port: 0, host: '127.0.0.1' })
process.send!({ port: (app.server.address() as AddressInfo).port })
watchStalls(({ from, until }) => {
  process.send!({ stall: { from: from + MACHINE_CLOCK_MS, until: until + MACHINE_CLOCK_MS } })
})
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)))
// A host that is killed writes nothing at its end: those that boot after it would compile it all again.
flushCompileCache()
