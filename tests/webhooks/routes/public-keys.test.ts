// Which routes of webhooks are open where svcAuth guards all paths.
import { randomBytes } from 'node:crypto'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'

t.test('the public keys need no API key, and the events need one', async (t) => {
  const database = { connectionString: await freshDatabase(t), max: 3 }
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  const secrets = (name: string) =>
    name === 'SIGNING_KEY' ? `whsk_${randomBytes(32).toString('base64')}` : null
  await app.register(svcCore, { database, secrets })
  await app.register(svcAuth, { protectedPaths: 'all' })
  await app.register(svcWebhooks, { allowedEvents: [], ed25519: { secretName: 'SIGNING_KEY' } })
  const statusOf = async (url: string) => (await app.inject(url)).statusCode
  t.equal(await statusOf('/_webhooks/public-keys'), 200)
  for (const url of ['/_webhooks', '/_webhooks/events', '/_webhooks/asyncapi.json']) {
    t.equal(await statusOf(url), 401, url)
  }
})
