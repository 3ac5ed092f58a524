// promise: No hook runs before the guard that the host has not named; in NestJS the guard is before middleware, guards and interceptors
import {
  Controller,
  Get,
  Post,
  type CallHandler,
  type CanActivate,
  type MiddlewareConsumer,
  type NestInterceptor,
  VersioningType,
} from '@nestjs/common'
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core'
import { RouteConfig, FastifyAdapter } from '@nestjs/platform-fastify'
import type { Auth } from '@svc/auth'
import { Caller, PublicRoute, Scopes, SvcService, type SvcModuleOptions } from '@svc/nest'
import Fastify from 'fastify'
import t from 'tap'
import { ADMIN, controller, startApplication } from './support/application.ts'

/** What ran for a request, in its order. */
const ran: string[] = []
t.beforeEach(() => void (ran.length = 0))

const Orders = controller(
  Controller('orders'),
  class {
    list(caller: Auth) {
      ran.push('handler')
      return { caller }
    }
    create() {
      return 'created'
    }
    open(caller: Auth | null) {
      return { caller }
    }
    costly() {
      return 'done'
    }
  },
  {
    list: { on: [Get(), Scopes('orders:read', 'orders:write')], parameters: [Caller()] },
    create: { on: [Post(), Scopes('orders:write')] },
    open: { on: [Get('open'), PublicRoute()], parameters: [Caller()] },
    // A decorator above ours that replaces the config of the route.
    costly: { on: [RouteConfig({ cost: 5 }), Get('costly/:id'), Scopes('orders:write')] },
  },
)

class OwnGuard implements CanActivate {
  canActivate() {
    ran.push('guard of Nest')
    return true
  }
}

class OwnInterceptor implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler) {
    ran.push('interceptor')
    return next.handle()
  }
}

class WithMiddleware {
  configure(consumer: MiddlewareConsumer) {
    consumer
      .apply((_request: unknown, _response: unknown, next: () => void) => {
        ran.push('middleware of a module')
        next()
      })
      .forRoutes('*path')
  }
}

const scopes = ['orders:read', 'orders:write']
const metadata = {
  controllers: [Orders],
  providers: [
    { provide: APP_GUARD, useClass: OwnGuard },
    { provide: APP_INTERCEPTOR, useClass: OwnInterceptor },
  ],
}
const useMiddleware = (app: { use: (run: unknown) => unknown }) =>
  void app.use((_request: unknown, _response: unknown, next: () => void) => {
    ran.push('middleware')
    next()
  })

t.test(
  'the guard refuses a request before middleware, guards, interceptors and handlers of Nest',
  async (t) => {
    const app = await startApplication(t, {
      svc: { auth: { scopes } },
      metadata,
      type: WithMiddleware,
      before: useMiddleware,
    })
    for (const url of ['/orders', '/nowhere', '/_auth/users']) {
      const refused = await app.inject({ url })
      t.match(refused, { statusCode: 401 }, url)
      t.match(refused.json(), { code: 'SVC_AUTH_MISSING_KEY' }, url)
    }
    t.same(ran, [])

    t.match(await app.inject({ url: '/orders', headers: ADMIN }), { statusCode: 200 })
    t.same(ran, ['middleware', 'middleware of a module', 'guard of Nest', 'interceptor', 'handler'])
  },
)

t.test('handlers say which scopes they need, and are told who calls', async (t) => {
  const app = await startApplication(t, {
    svc: { auth: { scopes }, core: {} },
    metadata,
    before: (app) => {
      app.setGlobalPrefix('api')
      app.enableVersioning({
        type: VersioningType.HEADER,
        header: 'x-version',
        defaultVersion: '1',
      })
    },
  })
  const svc = app.get(SvcService)
  const user = await svc.auth.createUser({ email: 'a@example.com', name: 'A' })
  const { key } = await svc.auth.createApiKey({ userId: user.id, scopes: ['orders:read'] })
  const ask = (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}) =>
    app.inject({ method, url, headers: { 'x-version': '1', ...headers } })
  const reader = { 'x-api-key': key }

  const list = await ask('GET', '/api/orders', reader)
  t.match(list, { statusCode: 200 })
  t.match(list.json(), { caller: { userId: user.id, scopes: ['orders:read'] } })
  t.match((await ask('POST', '/api/orders', reader)).json(), {
    code: 'SVC_AUTH_INSUFFICIENT_SCOPE',
  })
  t.match(await ask('POST', '/api/orders', ADMIN), { statusCode: 201, body: 'created' })

  t.match((await ask('GET', '/api/orders/open')).json(), { caller: null })
  t.match((await ask('GET', '/api/orders/open', reader)).json(), { caller: { userId: user.id } })
  t.match(await ask('GET', '/api/orders/open', { 'x-api-key': 'wrong' }), { statusCode: 401 })
  const others = await ask('GET', '/api/orders/open', { 'x-version': '2' })
  t.match(others, { statusCode: 401 }, 'no route of that version')

  t.match(
    await ask('GET', '/api/orders/costly/1', reader),
    { statusCode: 403 },
    'another decorator above replaces nothing',
  )
  t.match(await ask('GET', '/api/orders/costly/1', ADMIN), { statusCode: 200 })
  t.match(await ask('GET', '/_auth/users', ADMIN), { statusCode: 200 }, 'without the prefix')
})

t.test('a handler needs a declared scope, or is public, and not both', async (t) => {
  const other = (...on: MethodDecorator[]) =>
    controller(
      Controller('x'),
      class {
        x() {}
      },
      { x: { on: [Get(), ...on] } },
    )
  const boot = (...on: MethodDecorator[]) =>
    startApplication(t, { metadata: { controllers: [other(...on)] } })
  await t.rejects(boot(Scopes('orders:red')), { code: 'SVC_AUTH_INVALID_ROUTE_SCOPES' })
  await t.rejects(boot(Scopes('read'), PublicRoute()), { code: 'SVC_AUTH_INVALID_ROUTE_SCOPES' })
  t.throws(() => controller(Scopes('read') as unknown as ClassDecorator, class {}, {}), {
    message: /@Scopes\(\) decorates one handler/,
  })
})

t.test("Nest's own hooks run before the guard, and no hook that nobody named", async (t) => {
  const app = await startApplication(t, {
    adapter: new FastifyAdapter({ pluginTimeout: 60_000 }),
    nest: { forceCloseConnections: true, cors: true },
    metadata,
    svc: { auth: { scopes } },
  })
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/orders',
    headers: { origin: 'https://example.com', 'access-control-request-method': 'POST' },
  })
  t.match(preflight, { statusCode: 204, headers: { 'access-control-allow-origin': '*' } })

  const early = async () => {}
  const withHook = async (auth: SvcModuleOptions['auth']) => {
    const instance = Fastify({ pluginTimeout: 60_000 })
    instance.addHook('onRequest', early)
    return startApplication(t, { adapter: new FastifyAdapter(instance), svc: { auth } })
  }
  await t.rejects(withHook({}), {
    code: 'SVC_AUTH_HOOK_BEFORE_GUARD',
    message: /the onRequest hook "early"/,
  })
  await t.resolves(withHook({ hooksBeforeGuard: [early] }))
})
