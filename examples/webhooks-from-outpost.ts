// From Outpost: each webhook destination becomes a webhook with its secrets. All of them come over, or none;
// run again, it takes what is new. Guide: docs/start/coming-over.md
//   npm install fastify @svc/core @svc/webhooks
//   DATABASE_URL=… OUTPOST_URL=http://localhost:3333/api/v1 API_KEY=… node webhooks-from-outpost.ts
import Fastify from 'fastify'
import { svcCore } from '@svc/core'
import { svcWebhooks, type Transform } from '@svc/webhooks'

// What Outpost sends unless it is configured otherwise. Your host has the same options.
const outpost: Transform = ({ event, eventId, deliveryId, payload, timestamp }) => ({
  body: JSON.stringify(payload),
  contentType: 'application/json',
  headers: {
    'X-Outpost-Event-Id': eventId ?? deliveryId,
    'X-Outpost-Topic': event,
    'X-Outpost-Timestamp': new Date(timestamp * 1000).toISOString().replace('.000', ''),
  },
  sign: ({ body, hmacs }) => ({ 'X-Outpost-Signature': `v0=${hmacs(body).join()}` }),
})
const { DATABASE_URL, OUTPOST_URL, API_KEY } = process.env
const app = Fastify()
await app.register(svcCore, { database: DATABASE_URL!, worker: { enabled: false } })
const options = { allowedEvents: ['order.created', 'order.shipped'], transforms: { outpost } }
await app.register(svcWebhooks, { ...options, defaultTransform: 'outpost' })
await app.ready()
const { transaction, webhooks } = app.svc

// oxlint-disable-next-line typescript/no-explicit-any -- what Outpost answers
async function ask(path: string): Promise<any> {
  const answer = await fetch(OUTPOST_URL + path, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`)
  return answer.json()
}
const known = new Set((await webhooks.list()).map(({ metadata }) => metadata?.['outpost']))
const found: Awaited<ReturnType<typeof ask>>[] = []
for (let query = '/tenants?limit=100'; query !== '';) {
  const { models, pagination } = await ask(query)
  for (const { id: tenant } of models) {
    for (const one of await ask(`/tenants/${tenant}/destinations`)) {
      const hasPattern = [one.topics].flat().some((topic) => topic !== '*' && topic.includes('*'))
      const isByHand = one.type !== 'webhook' || one.filter || hasPattern
      if (isByHand) console.log(`left out, see the guide: ${tenant} ${one.id} ${one.target}`)
      else if (!known.has(one.id)) found.push({ tenant, ...one })
    }
  }
  query = pagination.next ? `/tenants?limit=100&next=${encodeURIComponent(pagination.next)}` : ''
}
await transaction(async (db) => {
  for (const { id: outpost, tenant, topics: events, config, credentials, ...one } of found) {
    try {
      const { secret, previous_secret: previous, previous_secret_invalid_at: end } = credentials
      const headers = JSON.parse(config.custom_headers ?? '{}')
      const constants = Object.entries(one.delivery_metadata ?? {})
      for (const [name, value] of constants) headers[`x-outpost-${name}`] = value
      const settings = { tenant, events, headers, metadata: { ...one.metadata, outpost } }
      const first = { url: config.url, ...settings, secret: previous ?? secret }
      const { id } = await webhooks.register(first, { db })
      const overlapSeconds = Math.max(0, Math.round((Date.parse(end) - Date.now()) / 1000))
      if (previous) await webhooks.rotateSecret({ id, secret, overlapSeconds }, { db })
      if (one.disabled_at) await webhooks.update({ id, active: false }, { db })
    } catch (cause) {
      throw new Error(`${outpost} is refused, and none came over`, { cause })
    }
  }
})
console.log(`${found.length} webhooks came over`)
await app.close()
