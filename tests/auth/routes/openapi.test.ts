import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { startHost } from '../support/host.ts'

const before = (openapi: object) => async (app: FastifyInstance) => {
  await app.register(swagger, { openapi })
}

const after = (app: FastifyInstance) => {
  app.get('/health', async () => 'open')
  app.get('/public', { config: { public: true } }, async () => 'for all')
  app.get('/things', async () => 'read')
  app.post('/things', { schema: { summary: 'Make one' } }, async () => 'write')
  app.get('/invoices', { config: { scopes: ['billing:read', 'write'] } }, async () => 'own')
  app.get('/closed', { config: { scopes: [] } }, async () => 'for admins')
  app.get('/own', { schema: { security: [] } }, async () => 'the host knows better')
}

const anyOf = (...scopes: string[]) =>
  scopes.flatMap((scope) => [{ apiKey: [scope] }, { bearer: [scope] }])

t.test('the document describes how to send a key, and the scopes of each route', async (t) => {
  const auth = { scopes: ['billing:read'] }
  const { app } = await startHost(t, { auth, before: before({ openapi: '3.1.0' }), after })
  const document = JSON.parse(JSON.stringify(app.swagger()))

  t.match(document.components.securitySchemes, {
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    bearer: { type: 'http', scheme: 'bearer' },
  })
  const { paths } = document
  t.notOk('security' in paths['/health'].get)
  t.same(paths['/things'].get.security, anyOf('read', 'write'))
  t.match(paths['/things'].post, { summary: 'Make one', security: anyOf('write') })
  t.same(paths['/invoices'].get.security, anyOf('billing:read', 'write'))
  t.same(paths['/own'].get.security, [])
  t.same(paths['/closed'].get.security, anyOf('admin'))
  for (const path of ['/users', '/users/{id}', '/users/{userId}/keys', '/keys/{id}']) {
    for (const operation of Object.values<{ security: object }>(paths[`/_auth${path}`])) {
      t.same(operation.security, anyOf('auth:manage'), path)
    }
  }
  t.same(paths['/_auth/verify'].post.security, anyOf('auth:verify'))
  t.same(paths['/_auth/audit'].get.security, anyOf('audit:read'))
  t.same(paths['/_auth/me'].get.security, [{ apiKey: [] }, { bearer: [] }])
  t.same(paths['/public'].get.security, [{ apiKey: [] }, { bearer: [] }, {}])
  t.notOk('security' in paths['/_auth/forward-auth'].get)
  t.notOk('security' in paths['/_auth/forward-auth/{scopes}'].get)
  t.match(app.swagger({ yaml: true }), /securitySchemes/)
})

t.test('the document describes the ways that the host takes keys in', async (t) => {
  const auth = { scopes: ['billing:read'], keyHeaders: ['X-Acme-Key'], basic: true }
  const { app } = await startHost(t, { auth, before: before({ openapi: '3.1.0' }), after })
  const document = JSON.parse(JSON.stringify(app.swagger()))
  t.match(document.components.securitySchemes, {
    apiKey: { name: 'X-API-Key' },
    apiKey2: { type: 'apiKey', in: 'header', name: 'x-acme-key' },
    bearer: { scheme: 'bearer' },
    basic: { type: 'http', scheme: 'basic' },
  })
  const everyWay = [{ apiKey: [] }, { apiKey2: [] }, { bearer: [] }, { basic: [] }]
  t.same(document.paths['/_auth/me'].get.security, everyWay)
  t.same(document.paths['/public'].get.security, [...everyWay, {}])
})

t.test('openapi: false keeps our routes out of it, and describes those of the host', async (t) => {
  const auth = { scopes: ['billing:read'], openapi: false }
  const { app } = await startHost(t, { auth, before: before({ openapi: '3.1.0' }), after })
  const document = JSON.parse(JSON.stringify(app.swagger()))
  const paths = Object.keys(document.paths)
  t.same(paths.toSorted(), ['/closed', '/health', '/invoices', '/own', '/public', '/things'])
  t.ok(document.components.securitySchemes.apiKey)
  t.same(document.paths['/things'].post.security, anyOf('write'))
})

t.test('schemes of the host stay as they are', async (t) => {
  const mine = { type: 'apiKey', in: 'header', name: 'X-Mine' }
  const { app } = await startHost(t, {
    before: before({ components: { securitySchemes: { apiKey: mine, mine } } }),
    after: (app) => void app.get('/mine', { schema: { security: [{ mine: [] }] } }, async () => 1),
  })
  const { components, paths } = JSON.parse(JSON.stringify(app.swagger()))
  t.match(components.securitySchemes, { apiKey: mine, mine, bearer: { type: 'http' } })
  t.same(paths['/mine'].get.security, [{ mine: [] }])
})

t.test('a Swagger 2 document has its own names for the security schemes', async (t) => {
  const { app } = await startHost(t, {
    before: async (app) => {
      await app.register(swagger, {})
    },
    after,
    auth: { scopes: ['billing:read'] },
  })
  const document = JSON.parse(JSON.stringify(app.swagger()))
  t.match(document.securityDefinitions, {
    apiKey: { name: 'X-API-Key' },
    bearer: { name: 'Authorization' },
  })
  t.same(document.paths['/things'].post.security, anyOf('write'))
})

t.test(
  'a swagger plugin registered after svcAuth describes its routes without security',
  async (t) => {
    const { app } = await startHost(t, {
      async after(app) {
        await app.register(swagger, { openapi: {} })
        app.get('/things', async () => 'read')
      },
    })
    t.match(JSON.parse(JSON.stringify(app.swagger())).paths, { '/things': { get: {} } })
  },
)
