import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import {
  addGuardHook,
  assertGuardFirst,
} from '../../../../packages/auth/src/guard/boot/hook-order.ts'
import { PolicyMap } from '../../../../packages/auth/src/guard/policy/policy-map.ts'
import {
  collectRoutes,
  routerOptionsOf,
} from '../../../../packages/auth/src/guard/policy/registered-routes.ts'

t.test('all routes are listed, whenever and wherever they were registered', async (t) => {
  const app = Fastify()
  app.get('/early', async () => '')
  void app.register(async (child) => void child.post('/child', async () => ''), { prefix: '/v1' })
  const routes = collectRoutes(app)
  app.get('/late/:id?', async () => '')
  app.route({ method: ['PUT', 'PATCH'], url: '/both', handler: async () => '' })
  app.get('/late/:id/x', { constraints: { version: '2.0.0' } }, async () => '')
  app.all('*', async () => '')
  await app.ready()

  const listed = routes().map(({ methods, patterns }) => [methods, patterns])
  const gets = listed.filter(([methods]) => methods?.[0] === 'GET' && methods.length === 1)
  t.same(gets.map(([, patterns]) => patterns).toSorted(), [
    ['/early'],
    ['/late', '/late/:id'],
    ['/late/:id/x'],
  ])
  t.strictSame(
    listed.filter(([methods]) => methods?.[0] === 'PUT' || methods?.[0] === 'POST'),
    [
      [['PUT', 'PATCH'], ['/both']],
      [['POST'], ['/v1/child']],
    ],
  )
  t.ok(listed.some(([methods, patterns]) => (methods?.length ?? 0) > 2 && patterns?.[0] === '*'))
  await app.close()
})

t.test('the options of a registered route are those that its requests refer to', async (t) => {
  const app = Fastify()
  const routes = collectRoutes(app)
  let carried: unknown
  app.get('/x', async (request) => {
    carried = request.routeOptions.config
  })
  await app.inject('/x')
  t.equal(routes().find(({ patterns }) => patterns[0] === '/x')?.config, carried)
  await app.close()
})

t.test('a router that does not list a route is an error', async (t) => {
  const app = Fastify()
  const routes = collectRoutes(app)
  app.get('/x', async () => '')
  await app.ready()
  Object.defineProperty(app, 'printRoutes', { value: () => '' })
  t.throws(routes, { code: 'SVC_AUTH_UNSUPPORTED_FASTIFY' })
  await app.close()
})

t.test('a Fastify without its symbols is an error', async (t) => {
  const app = { version: '5.99.0', addHook() {} } as unknown as FastifyInstance
  const unsupported = { code: 'SVC_AUTH_UNSUPPORTED_FASTIFY', message: /Fastify 5\.99\.0/ }
  t.throws(() => assertGuardFirst(app, () => {}, [], []), unsupported)
  await t.rejects(
    addGuardHook(app, () => {}),
    unsupported,
  )
})

t.test('the options of the router are found at either place', (t) => {
  const options = { ignoreTrailingSlash: true, caseSensitive: false }
  for (const initialConfig of [options, { routerOptions: options }]) {
    t.match(routerOptionsOf({ initialConfig } as never), {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: false,
    })
  }
  t.end()
})

t.test('a route that was not there at boot is for admins alone', (t) => {
  const options = { protectedPaths: [], excludePaths: [], webhooksManagementPaths: [] }
  const router = routerOptionsOf(Fastify())
  const policies = new PolicyMap({ ...options, managementBasePath: null }, router)
  const request = { routeOptions: { config: {} }, raw: { url: '/z' }, is404: false }
  t.match(policies.policyOf(request as never), { kind: 'guarded', reading: { scopes: [] } })
  t.end()
})
