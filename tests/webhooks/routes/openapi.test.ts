import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { svcCore } from '@svc/core'
import { svcWebhooks, type SvcWebhooksOptions } from '@svc/webhooks'
import { freshDatabase } from '../../support/fresh-database.ts'

async function documentOf(
  t: Test,
  options: FastifyDynamicSwaggerOptions,
  webhooks: Partial<SvcWebhooksOptions> = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- a document of many shapes
): Promise<any> {
  const connectionString = await freshDatabase(t)
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(swagger, options)
  await app.register(svcCore, { database: { connectionString, max: 2 } })
  await app.register(svcWebhooks, { allowedEvents: [], ...webhooks })
  await app.ready()
  return JSON.parse(JSON.stringify(app.swagger()))
}

t.test('with the option openapi: false the document does not have our routes', async (t) => {
  const document = await documentOf(t, { openapi: { openapi: '3.1.0' } }, { openapi: false })
  t.same(document.paths, {})
  t.notOk(document.webhooks)
})

t.test('the document has all routes, and the request that we send as a webhook', async (t) => {
  const document = await documentOf(t, { openapi: { openapi: '3.1.0' } })
  t.same(Object.keys(document.paths).toSorted(), [
    '/_webhooks',
    '/_webhooks/asyncapi.json',
    '/_webhooks/dead-letters',
    '/_webhooks/deliveries',
    '/_webhooks/events',
    '/_webhooks/events/{eventId}',
    '/_webhooks/feed',
    '/_webhooks/handlers/dead-letters',
    '/_webhooks/handlers/dead-letters/{id}',
    '/_webhooks/handlers/pause',
    '/_webhooks/handlers/redrive',
    '/_webhooks/handlers/resume',
    '/_webhooks/pause-all',
    '/_webhooks/recover',
    '/_webhooks/resume-all',
    '/_webhooks/stats',
    '/_webhooks/{id}',
    '/_webhooks/{id}/dead-letters',
    '/_webhooks/{id}/deliveries',
    '/_webhooks/{id}/deliveries/{deliveryId}',
    '/_webhooks/{id}/deliveries/{deliveryId}/redeliver',
    '/_webhooks/{id}/feed',
    '/_webhooks/{id}/recover',
    '/_webhooks/{id}/recoveries',
    '/_webhooks/{id}/recoveries/{recoveryId}',
    '/_webhooks/{id}/redrive',
    '/_webhooks/{id}/rotate-secret',
    '/_webhooks/{id}/test',
  ])
  const create = document.paths['/_webhooks'].post
  t.same(create.requestBody.content['application/json'].schema.required, ['url', 'events'])
  t.ok('secret' in create.responses['201'].content['application/json'].schema.properties)
  const list = document.paths['/_webhooks'].get.responses['200'].content['application/json'].schema
  t.notOk('secret' in list.items.properties)

  const { post } = document.webhooks.delivery
  t.same(post.requestBody.content['application/json'].schema.required, [
    'event',
    'payload',
    'deliveryId',
  ])
  t.ok(post.parameters.some(({ name }: { name: string }) => name === 'X-Svc-Signature'))
})

t.test('the headers of the request have the prefix of the host', async (t) => {
  const openapi = { openapi: '3.1.0' } as const
  const document = await documentOf(t, { openapi }, { headerPrefix: 'X-Acme-' })
  t.notMatch(JSON.stringify(document), /X-Svc-/)
  const { post } = document.webhooks.delivery
  const names: string[] = post.parameters.map(({ name }: { name: string }) => name)
  t.same(names.filter((name) => name.startsWith('X-')).toSorted(), [
    'X-Acme-Attempt',
    'X-Acme-Delivery-Id',
    'X-Acme-Event',
    'X-Acme-Signature',
    'X-Acme-Signature-Previous',
    'X-Acme-Tenant',
    'X-Acme-Test',
    'X-Acme-Timestamp',
  ])
})

t.test('a document of OpenAPI 3.0, which has no webhooks, is made without them', async (t) => {
  const document = await documentOf(t, { openapi: { openapi: '3.0.3' } })
  t.notOk('webhooks' in document)
  t.ok(document.paths['/_webhooks'].post)
})

t.test('a document of Swagger 2 is made as well', async (t) => {
  const document = await documentOf(t, { swagger: {} })
  t.equal(document.swagger, '2.0')
  t.ok(document.paths['/_webhooks'].post)
})
