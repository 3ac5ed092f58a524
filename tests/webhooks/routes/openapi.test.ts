import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import t, { type Test } from 'tap'
import { svcCore } from '@svc/core'
import { svcWebhooks, type SvcWebhooksOptions } from '@svc/webhooks'
import { freshDatabase } from '../../support/fresh-database.ts'
import { newHost } from '../../support/new-host.ts'

async function documentOf(
  t: Test,
  options: FastifyDynamicSwaggerOptions,
  webhooks: Partial<SvcWebhooksOptions> = {},
  routes = new Set<string>(),
  // oxlint-disable-next-line typescript/no-explicit-any -- a document of many shapes
): Promise<any> {
  const connectionString = await freshDatabase(t)
  const app = newHost(t)
  app.addHook('onRoute', ({ url, schema = {} }) => {
    const isHidden = 'hide' in schema && schema.hide === true
    if (url.startsWith('/_webhooks') && !/[*/]$/.test(url) && !isHidden) routes.add(url)
  })
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
  const routes = new Set<string>()
  const document = await documentOf(t, { openapi: { openapi: '3.1.0' } }, {}, routes)
  const paths = [...routes].map((url) => url.replaceAll(/:(\w+)/g, '{$1}'))
  t.same(Object.keys(document.paths).toSorted(), paths.toSorted())
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
