// Webhooks out: an order and its event in one transaction, a webhook for it, and the receiver.
//   npm install fastify @svc/webhooks @svc/receiver
//   DATABASE_URL=postgres://… node webhooks-out.ts
//   curl localhost:3000/orders -H 'content-type: application/json' -d '{ "item": "book" }'
import Fastify from 'fastify'
import { svcWebhooks } from '@svc/webhooks'
import { verifyDelivery } from '@svc/receiver'

const app = Fastify({ logger: true })
// Its management API, /_webhooks, is open to everyone without svcAuth: see api-keys.ts.
await app.register(svcWebhooks, {
  allowedEvents: ['order.created'],
  allowedNetworks: ['127.0.0.0/8'], // where our receiver listens: without it no delivery goes there
})
const { actions, database, events, transaction } = app.svc
await database.query('create table if not exists orders (id serial primary key, item text)')

app.post<{ Body: { item: string } }>('/orders', async ({ body }, reply) => {
  const order = await transaction(async (db) => {
    const insert = 'insert into orders (item) values ($1) returning *'
    const { rows } = await db.query(insert, [body.item])
    // Delivered if, and only if, the order is committed.
    await events.publish('order.created', rows[0], { db })
    return rows[0]
  })
  return reply.code(201).send(order)
})

// The receiver: in production this is another party's server (see receiver.ts).
const receiver = Fastify()
const asBytes = { parseAs: 'buffer' } as const // what is signed are the bytes
receiver.addContentTypeParser('application/json', asBytes, async (_: unknown, body: Buffer) => body)
receiver.post<{ Body: Buffer }>('/hook', async ({ headers, body }, reply) => {
  const { event, payload } = verifyDelivery({ headers, body, secret: webhook.secret })
  app.log.info({ event, payload }, 'received')
  return reply.code(204).send()
})
const port = Number(process.env.RECEIVER_PORT ?? 4000)
const url = `${await receiver.listen({ host: '127.0.0.1', port })}/hook`

// Registered once, however often this file is started.
const known = (await actions.call('__svc.webhooks.list')).find((webhook) => webhook.url === url)
const webhook = known
  ? await actions.call('__svc.webhooks.get', known.id)
  : await actions.call('__svc.webhooks.register', { url, events: ['order.created'] })

app.addHook('onClose', () => receiver.close())
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
