import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { startHost } from '../../support/host.ts'
import { rawRequest } from '../../support/raw-request.ts'

const GUARDS = Symbol.for('@svc/auth.guards')

t.test('an excluded path is open for every method, and that path alone', async (t) => {
  const { ask } = await startHost(t, {
    auth: { excludePaths: ['/open'] },
    after(app) {
      app.all('/open', async (request) => ({ auth: request.auth }))
      for (const path of ['/open/', '/open/x', '/openx', '/Open']) app.get(path, async () => 'x')
    },
  })
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await ask(method, '/open', { key: null })
    t.match(answer, { status: 200, body: { auth: null } }, method)
  }
  t.equal((await ask('HEAD', '/open', { key: null })).status, 200)
  t.match((await ask('GET', '/open')).body, { auth: null }, 'whatever key is sent')
  for (const path of ['/open/', '/open/x', '/openx', '/Open', '/health']) {
    t.equal((await ask('GET', path, { key: null })).status, 401, path)
  }
})

t.test('with a list of prefixes all other paths are open', async (t) => {
  const { ask } = await startHost(t, {
    auth: { protectedPaths: ['/api'] },
    after(app) {
      for (const path of ['/api', '/api/x', '/apix', '/']) {
        app.get(path, async (request) => ({ auth: request.auth }))
      }
    },
  })
  const open = { status: 200, body: { auth: null } }
  t.match(await ask('GET', '/', { key: null }), open)
  t.match(await ask('GET', '/apix', { key: null }), open)
  t.equal((await ask('GET', '/api', { key: null })).status, 401)
  t.equal((await ask('GET', '/api/x', { key: null })).status, 401)
  t.equal((await ask('GET', '/nothing', { key: null })).status, 404)
  t.equal((await ask('GET', '/api/nothing', { key: null })).status, 401)
  t.equal((await ask('POST', '/api/x', { key: null })).status, 401)
  t.equal((await ask('GET', '/_webhooks/nothing', { key: null })).status, 401)
})

t.test('a parameter or wildcard that covers a prefix has the policy of the path', async (t) => {
  const { app } = await startHost(t, {
    auth: { protectedPaths: ['/api'], excludePaths: ['/api/open', '/health'] },
    fastify: { routerOptions: { maxParamLength: 500 } },
    after(app) {
      app.get('/:first/:second', async () => 'swallowed')
      app.get('/*', async () => 'swallowed')
      app.get('/public/*', async () => 'public')
    },
  })
  const open = ['/x/y', '/a', '/api/open', '/%61pi/op%65n', '/a/b/c', '/public/..%2f..', '/x/']
  await app.listen({ port: 0, host: '127.0.0.1' })
  const statusOf = async (target: string) =>
    (await rawRequest(app, { method: 'GET', target })).status
  for (const path of open) t.equal(await statusOf(path), 200, path)
  const closed = [
    '/api/y',
    '/%61pi/y',
    '/api/',
    '/api',
    '/api/open/',
    '/x/..%2fapi',
    '/a/b/%2e%2e/c',
    '/a//b',
    '/a;/b',
    '/a%5cb',
    '/_auth/users/x/y/z',
  ]
  for (const path of closed) t.equal(await statusOf(path), 401, path)
})

t.test('a 404 on a protected path needs any valid key', async (t) => {
  const { ask, makeKey } = await startHost(t, {
    after(app) {
      app.setNotFoundHandler(async (request, reply) => reply.code(404).send({ auth: request.auth }))
      app.get('/health', (_request, reply) => reply.callNotFound())
      app.register(
        async (child) => {
          child.setNotFoundHandler(async (_request, reply) => reply.code(404).send('of the child'))
        },
        { prefix: '/child' },
      )
    },
  })
  const { id, key } = await makeKey({ scopes: [] })
  for (const path of ['/nothing', '/child/nothing', '/_auth/nothing', '/child']) {
    t.equal((await ask('GET', path, { key: null })).status, 401, path)
    t.equal((await ask('DELETE', path, { key: null })).status, 401, path)
  }
  t.match(await ask('GET', '/nothing', { key }), { status: 404, body: { auth: { keyId: id } } })
  t.match(await ask('GET', '/child/x', { key }), { status: 404, body: 'of the child' })
  t.match(await ask('GET', '/health', { key: null }), { status: 404, body: { auth: null } })
})

t.test('a rewritten URL has the policy of the route that it leads to', async (t) => {
  const { ask } = await startHost(t, {
    auth: { protectedPaths: ['/api'] },
    fastify: {
      rewriteUrl: ({ url = '' }) => url.replace('/public', '/api').replace('/in', '/out'),
    },
    after(app) {
      app.get('/api', async () => 'api')
      app.get('/out', async () => 'out')
    },
  })
  t.equal((await ask('GET', '/public', { key: null })).status, 401)
  t.equal((await ask('GET', '/public/nothing', { key: null })).status, 401)
  t.equal((await ask('GET', '/in', { key: null })).status, 200)
})

t.test('routes of plugins before and after are guarded, each with its request.auth', async (t) => {
  const me = async (request: { auth: unknown }) => ({ auth: request.auth })
  const { ask, makeKey } = await startHost(t, {
    auth: { excludePaths: ['/early/open'] },
    async before(app) {
      await app.register(
        async (child: FastifyInstance) => {
          child.decorateRequest('mine', 1)
          child.get('/me', me)
          child.get('/open', me)
        },
        { prefix: '/early' },
      )
    },
    after: (app) =>
      void app.register(async (child) => void child.get('/me', me), { prefix: '/late' }),
  })
  const { id, key } = await makeKey()
  for (const path of ['/early/me', '/late/me']) {
    t.equal((await ask('GET', path, { key: null })).status, 401, path)
    t.match((await ask('GET', path, { key })).body, { auth: { keyId: id } })
  }
  t.same((await ask('GET', '/early/open', { key: null })).body, { auth: null })
})

t.test('our other packages can find out which paths the guard protects', async (t) => {
  const { app } = await startHost(t, {
    auth: { protectedPaths: ['/api'], excludePaths: ['/api/hook'] },
    after(app) {
      app.post('/api/hook', async () => 'x')
      app.post('/own', { config: { scopes: ['write'] } }, async () => 'x')
      app.post('/:any', async () => 'x')
    },
  })
  const guards = Reflect.get(app, GUARDS) as (method: string, path: string) => boolean
  t.equal(guards('POST', '/api/other'), true)
  t.equal(guards('POST', '/api/hook'), false)
  t.equal(guards('POST', '/own'), true)
  t.equal(guards('GET', '/own'), false)
  t.equal(guards('POST', '/anything'), false)
  t.equal(guards('POST', '/_webhooks/x'), true)
})
