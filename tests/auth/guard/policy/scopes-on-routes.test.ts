import t from 'tap'
import { startHost } from '../../support/host.ts'
import { logOf } from '../../support/log.ts'

const forbidden = (message: RegExp) => ({
  status: 403,
  body: {
    statusCode: 403,
    code: 'SVC_AUTH_INSUFFICIENT_SCOPE',
    error: 'insufficient permissions',
    message,
  },
})

t.test('a key reads with read, and does everything on application routes with write', async (t) => {
  const { ask, makeKey } = await startHost(t, {
    after(app) {
      app.all('/things', async () => 'done')
    },
  })
  const { key: reader } = await makeKey({ scopes: ['read'] })
  const { key: writer } = await makeKey({ scopes: ['write'] })
  const { key: nobody } = await makeKey({ scopes: [] })
  const { key: admin } = await makeKey({ scopes: ['admin'] })

  for (const method of ['GET', 'HEAD', 'OPTIONS']) {
    t.equal((await ask(method, '/things', { key: reader })).status, 200, method)
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await ask(method, '/things', { key: reader })
    t.match(answer, forbidden(/one of these scopes: write, admin/), method)
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    t.equal((await ask(method, '/things', { key: writer })).status, 200, method)
    t.equal((await ask(method, '/things', { key: admin })).status, 200, method)
    t.equal((await ask(method, '/things', { key: nobody })).status, 403, method)
  }
})

t.test(
  'the management of keys wants auth:manage or admin, that of webhooks webhooks:manage',
  async (t) => {
    const { ask, makeKey } = await startHost(t, {
      auth: { protectedPaths: [], webhooksManagementPaths: ['/_webhooks', '/hooks/admin'] },
      after(app) {
        app.get('/_webhooks', async () => 'webhooks')
        app.post('/hooks/admin/x', async () => 'webhooks')
        app.get('/hooks/adminx', async () => 'open')
        app.get('/_auth/own', async () => 'own')
      },
    })
    const { key: usual } = await makeKey()
    const { key: keys } = await makeKey({ scopes: ['auth:manage'] })
    const { key: webhooks } = await makeKey({ scopes: ['webhooks:manage'] })
    const { key: admin } = await makeKey({ scopes: ['admin'] })

    const rows: [method: string, path: string, opens: string][] = [
      ['GET', '/_auth/users', keys],
      ['GET', '/_auth/own', keys],
      ['GET', '/_webhooks', webhooks],
      ['POST', '/hooks/admin/x', webhooks],
    ]
    for (const [method, path, opens] of rows) {
      t.equal((await ask(method, path, { key: null })).status, 401, path)
      t.equal((await ask(method, path, { key: admin })).status, 200, path)
      for (const key of [usual, keys, webhooks]) {
        t.equal((await ask(method, path, { key })).status, key === opens ? 200 : 403, path)
      }
    }
    t.equal((await ask('GET', '/hooks/adminx', { key: null })).status, 200)
  },
)

t.test('a route with scopes is opened by any one of them, whatever its path', async (t) => {
  const log = logOf()
  const { ask, makeKey } = await startHost(t, {
    fastify: { logger: { level: 'warn', stream: log } },
    auth: {
      protectedPaths: ['/api'],
      excludePaths: ['/health', '/invoices'],
      scopes: ['billing:read', 'billing:write'],
    },
    after(app) {
      const config = { scopes: ['billing:read', 'billing:write'] }
      app.get('/outside', { config }, async () => 'invoices')
      app.get('/api/invoices', { config }, async () => 'invoices')
      app.get('/invoices', { config }, async () => 'invoices')
      app.get('/health', async () => 'open')
      app.get('/closed', { config: { scopes: [] } }, async () => 'closed')
    },
  })
  const { key: usual } = await makeKey({ scopes: ['read', 'write'] })
  const { key: billing } = await makeKey({ scopes: ['billing:write'] })
  const { key: admin } = await makeKey({ scopes: ['admin'] })

  for (const path of ['/outside', '/api/invoices', '/invoices']) {
    t.equal((await ask('GET', path, { key: null })).status, 401, path)
    t.equal((await ask('GET', path, { key: billing })).status, 200, path)
    t.equal((await ask('GET', path, { key: admin })).status, 200, path)
    const refused = await ask('GET', path, { key: usual })
    t.match(refused, forbidden(/billing:read, billing:write, admin/), path)
  }
  t.equal((await ask('HEAD', '/outside', { key: null })).status, 401)
  const warning = 'excludePaths has no effect on a route with config.scopes: it still needs a key'
  t.match(log.entries(warning), [{ path: '/invoices' }])
  t.equal((await ask('GET', '/health', { key: null })).status, 200)
  t.equal((await ask('GET', '/closed', { key: billing })).status, 403)
  t.equal((await ask('GET', '/closed', { key: admin })).status, 200)
})

t.test('a boot warns of an excluded management path, and where nothing is protected', async (t) => {
  const opens =
    'excludePaths has a management path: a route there without config.scopes needs no key'
  const useless = 'excludePaths has no effect on a route with config.scopes: it still needs a key'
  const empty =
    'protectedPaths is empty: only management paths and routes with config.scopes need a key'
  const log = logOf()
  const other = logOf()
  const { ask } = await startHost(t, {
    fastify: { logger: { level: 'warn', stream: log } },
    auth: {
      excludePaths: ['/_auth/users', '/_auth/me', '/_webhooks/mine', '/health'],
      protectedPaths: [],
    },
    after: (app) => void app.get('/_webhooks/mine', async () => 'mine'),
  })
  t.strictSame(
    log.entries(opens).map(({ path }) => path),
    ['/_auth/me', '/_webhooks/mine'],
  )
  t.match(log.entries(useless), [{ path: '/_auth/users' }])
  for (const path of ['/_auth/users', '/_auth/me']) {
    t.equal((await ask('GET', path, { key: null })).status, 401, path)
  }
  t.equal((await ask('GET', '/_webhooks/mine', { key: null })).status, 200)
  t.equal(log.entries(empty).length, 1)
  await startHost(t, {
    fastify: { logger: { level: 'warn', stream: other } },
    auth: { excludePaths: ['/health'] },
  })
  t.strictSame([...other.entries(opens), ...other.entries(empty)], [])
})

t.test('a handler that changes its config opens nothing', async (t) => {
  const scopes = ['billing:read']
  const { ask, makeKey } = await startHost(t, {
    auth: { scopes: ['billing:read'] },
    after(app) {
      app.get('/invoices', { config: { scopes } }, async (request) => {
        scopes.push('read')
        request.routeOptions.config.scopes = ['read']
        return 'invoices'
      })
      app.get('/more', { config: { scopes } }, async () => 'more')
    },
  })
  const { key } = await makeKey({ scopes: ['read'] })
  t.equal((await ask('GET', '/invoices')).status, 200)
  t.equal((await ask('GET', '/invoices', { key })).status, 403)
  t.equal((await ask('GET', '/more', { key })).status, 403)
})
