// From a table of webhooks of your own: each row becomes a webhook with its secret. All of them come over, or
// none; run again, it takes what is new. Guide: docs/start/coming-over.md
//   npm install fastify @svc/core @svc/webhooks
//   DATABASE_URL=postgres://… node webhooks-from-own-table.ts
// The table: hooks (id, customer, url, events text[], format, secret, previous_secret, enabled)
import Fastify from 'fastify'
import { svcCore } from '@svc/core'
import { svcWebhooks, type Transform } from '@svc/webhooks'

// Bodies and signatures as your receivers know them. Your host has the same options.
const github: Transform = ({ event, deliveryId, payload }) => ({
  body: payload,
  headers: { 'X-GitHub-Event': event, 'X-GitHub-Delivery': deliveryId },
  // One signature: while two secrets are valid, with the old one. New receivers read ours.
  sign: ({ body, hmacs }) => ({ 'X-Hub-Signature-256': `sha256=${hmacs(body).at(-1)}` }),
})
const stripe: Transform = ({ payload }) => ({
  body: payload,
  sign({ body, timestamp, hmacs }) {
    const signatures = hmacs(`${timestamp}.${body}`).map((signature) => `v1=${signature}`)
    return { 'Stripe-Signature': [`t=${timestamp}`, ...signatures].join() }
  },
})

const app = Fastify()
await app.register(svcCore, { database: process.env.DATABASE_URL!, worker: { enabled: false } })
await app.register(svcWebhooks, {
  allowedEvents: ['order.created', 'order.shipped'],
  transforms: { github, stripe },
})
await app.ready()
const { database, transaction, webhooks } = app.svc

// Your old sender leaves out the rows that have it.
await database.query('alter table hooks add column if not exists moved_to uuid')
const moved = await transaction(async (db) => {
  const waiting = 'select * from hooks where moved_to is null order by id for update'
  const { rows } = await db.query(waiting)
  for (const { id: hook, customer: tenant, format: transform, ...row } of rows) {
    const { url, events, enabled, secret: current, previous_secret: previous } = row
    const secret = previous ?? current
    try {
      const made = await webhooks.register({ url, events, tenant, transform, secret }, { db })
      const { id } = made
      if (previous) await webhooks.rotateSecret({ id, secret: current }, { db })
      if (!enabled) await webhooks.update({ id, active: false }, { db })
      await db.query('update hooks set moved_to = $1 where id = $2', [id, hook])
    } catch (cause) {
      throw new Error(`hook ${hook} is refused, and none came over`, { cause })
    }
  }
  return rows.length
})
console.log(`${moved} webhooks came over`)
await app.close()
