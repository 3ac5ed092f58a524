// From Svix: each endpoint becomes a webhook with its secret. All of them come over, or none; run again, it
// takes what is new. Guide: docs/start/coming-over.md
//   npm install fastify @svc/core @svc/webhooks
//   DATABASE_URL=postgres://… SVIX_TOKEN=… node webhooks-from-svix.ts
import Fastify from 'fastify'
import { svcCore } from '@svc/core'
import { svcWebhooks, type NewWebhook } from '@svc/webhooks'

const { DATABASE_URL, SVIX_TOKEN, SVIX_URL = 'https://api.svix.com' } = process.env
const app = Fastify()
await app.register(svcCore, { database: DATABASE_URL!, worker: { enabled: false } })
await app.register(svcWebhooks, {
  // Your host has the same options: all of its events, and what the receivers verify.
  allowedEvents: ['order.created', 'order.shipped'],
  standardWebhooks: true,
  defaultTransform: 'payload',
})
await app.ready()
const { transaction, webhooks } = app.svc

// oxlint-disable-next-line typescript/no-explicit-any -- what Svix answers
async function ask(path: string): Promise<any> {
  const headers = { authorization: `Bearer ${SVIX_TOKEN}` }
  const answer = await fetch(`${SVIX_URL}/api/v1/app${path}`, { headers })
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`)
  return answer.json()
}
async function* all(path: string) {
  for (let query = '?limit=250', isDone = false; !isDone;) {
    const { data, done, iterator } = await ask(path + query)
    yield* data
    query = `?limit=250&iterator=${encodeURIComponent(iterator)}`
    isDone = done
  }
}

const known = new Set((await webhooks.list()).map(({ metadata }) => metadata?.['svix']))
const found: (NewWebhook & { active: boolean })[] = []
for await (const { id: application, uid } of all('')) {
  for await (const { id: svix, url, disabled, ...endpoint } of all(`/${application}/endpoint`)) {
    if (known.has(svix)) continue
    const place = `/${application}/endpoint/${svix}`
    const { key } = await ask(`${place}/secret`)
    const { headers, sensitive } = await ask(`${place}/headers`)
    const { filterTypes, channels, throttleRate: limit, description } = endpoint
    if (channels?.length || sensitive.length || key.startsWith('whsk_')) {
      console.log(`left out, see the guide: ${place} ${url}`)
      continue
    }
    const secret = key.startsWith('whsec_') ? key : `whsec_${key}`
    const rateLimit = limit ? { limit, perSeconds: 1 } : null
    const metadata = { ...endpoint.metadata, svix }
    const settings = { description, headers, metadata, rateLimit, secret }
    const webhook = { url, events: filterTypes ?? '*', tenant: uid ?? application, ...settings }
    found.push({ ...webhook, active: !disabled })
  }
}
await transaction(async (db) => {
  for (const { active, ...webhook } of found) {
    try {
      const { id } = await webhooks.register(webhook, { db })
      if (!active) await webhooks.update({ id, active }, { db })
    } catch (cause) {
      throw new Error(`${webhook.metadata?.['svix']} is refused, and none came over`, { cause })
    }
  }
})
console.log(`${found.length} webhooks came over`)
await app.close()
