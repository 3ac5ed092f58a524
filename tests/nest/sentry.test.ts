// promise: No hook runs before the guard that the host has not named; in NestJS the guard is before middleware, guards and interceptors
// In a process of its own: Sentry wraps the hooks of each Fastify that is made from then on.
import { Controller, Get } from '@nestjs/common'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { Test } from '@nestjs/testing'
import * as Sentry from '@sentry/node'
import { Scopes, SvcModule } from '@svc/nest'
import Fastify from 'fastify'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { ADMIN, controller, optionsFor, startApplication } from './support/application.ts'

Sentry.init({ dsn: 'http://public@127.0.0.1:9/1', tracesSampleRate: 1 })
t.teardown(() => Sentry.close(0))

const ran: string[] = []
t.beforeEach(() => void (ran.length = 0))

const Orders = controller(
  Controller('orders'),
  class {
    list() {
      ran.push('handler')
      return []
    }
  },
  { list: { on: [Get(), Scopes('read')] } },
)
const before = (app: NestFastifyApplication) =>
  void app.use((_request: unknown, _response: unknown, next: () => void) => {
    ran.push('middleware')
    next()
  })
const auth = { hooksBeforeGuard: ['onRequest'] }

t.test(
  'beside Sentry the guard is before the middleware, and only its one hook is to be named',
  async (t) => {
    const metadata = { controllers: [Orders] }
    await t.rejects(startApplication(t, { metadata }), {
      code: 'SVC_AUTH_HOOK_BEFORE_GUARD',
      message: /the onRequest hook "onRequest" of the package @sentry\/server-utils/,
    })
    const app = await startApplication(t, { metadata, before, svc: { auth } })
    t.match(await app.inject('/orders'), { statusCode: 401 })
    t.same(ran, [])
    t.match(await app.inject({ url: '/orders', headers: ADMIN }), { statusCode: 200 })
    t.same(ran, ['middleware', 'handler'])
  },
)

t.test('a hook of the host that Sentry has wrapped does not pass as one of Nest', async (t) => {
  const instance = Fastify({ pluginTimeout: 60_000 })
  instance.addHook('onRequest', async function early() {})
  await t.rejects(startApplication(t, { adapter: new FastifyAdapter(instance), svc: { auth } }), {
    code: 'SVC_AUTH_HOOK_BEFORE_GUARD',
    message: /the onRequest hook "handlerWrapped"/,
  })
})

t.test('the same holds with the testing module of Nest', async (t) => {
  const options = optionsFor(await freshDatabase(t), { auth })
  const imports = [SvcModule.forRoot(options)]
  const compiled = await Test.createTestingModule({ controllers: [Orders], imports }).compile()
  const app = compiled.createNestApplication<NestFastifyApplication>(
    new FastifyAdapter({ pluginTimeout: 60_000 }),
    { forceCloseConnections: true, logger: false },
  )
  t.teardown(() => app.close())
  before(app)
  await app.init()
  await app.getHttpAdapter().getInstance().ready()
  t.match(await app.inject('/orders'), { statusCode: 401 })
  t.same(ran, [])
  t.match(await app.inject({ url: '/orders', headers: ADMIN }), { statusCode: 200 })
  t.same(ran, ['middleware', 'handler'])
})
