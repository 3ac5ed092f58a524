import 'reflect-metadata'
import { createHmac } from 'node:crypto'
import { Controller, Get, Inject, type OnModuleInit, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { HealthCheckService, TerminusModule } from '@nestjs/terminus'
import { Test } from '@nestjs/testing'
import { PublicRoute, Scopes, SvcHealthIndicator, SvcModule, SvcService } from '@svc/nest'
import { drain } from '@svc/testing'
import { providers } from '@svc/webhooks/providers'
import t from 'tap'
import { builtPage } from '../console/support/built-page.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'
import {
  ADMIN,
  BOOTSTRAP_KEY,
  controller,
  moduleOf,
  optionsFor,
  startApplication,
} from './support/application.ts'

/** A provider that publishes and subscribes. */
class Orders implements OnModuleInit {
  shipped: unknown[] = []
  #svc: SvcService

  constructor(svc: SvcService) {
    this.#svc = svc
  }

  async onModuleInit() {
    await this.#svc.events.subscribe(
      'order.created',
      async (order) => void this.shipped.push(order),
    )
  }

  create(id: string) {
    return this.#svc.transaction((db) => this.#svc.events.publish('order.created', { id }, { db }))
  }
}
Inject(SvcService)(Orders, undefined, 0)

const worker = { enabled: true }

t.test(
  'a provider publishes and subscribes, and closing the application waits for its work',
  async (t) => {
    const app = await startApplication(t, {
      svc: { core: { worker } },
      metadata: { providers: [Orders] },
    })
    const orders = app.get(Orders)
    await orders.create('1')
    await drain(app.getHttpAdapter().getInstance())
    t.same(orders.shipped, [{ id: '1' }])

    const svc = app.get(SvcService)
    let begun = false
    let ended = false
    const release = Promise.withResolvers<void>()
    await svc.events.subscribe('slow', async () => {
      begun = true
      await release.promise
      ended = true
    })
    await svc.events.publish('slow', {})
    await until(() => begun)
    const closed = app.close()
    release.resolve()
    await closed
    t.ok(ended)
    await t.rejects(orders.create('2'))
  },
)

t.test(
  'options come from other providers, and the module from the testing module of Nest',
  async (t) => {
    const database = await freshDatabase(t)
    const CONFIG = Symbol('config')
    const ConfigModule = moduleOf({
      providers: [{ provide: CONFIG, useValue: { database } }],
      exports: [CONFIG],
    })
    const Things = controller(
      Controller('things'),
      class {
        list() {
          return ['a thing']
        }
      },
      { list: { on: [Get(), Scopes('read')] } },
    )
    await builtPage()
    const compiled = await Test.createTestingModule({
      controllers: [Things],
      providers: [Orders],
      imports: [
        SvcModule.forRootAsync({
          imports: [ConfigModule],
          inject: [CONFIG],
          useFactory: async (config: { database: string }) =>
            optionsFor(config.database, {
              core: { worker },
              webhooks: { allowedEvents: ['order.created'] },
              console: {},
            }),
        }),
      ],
    }).compile()
    const app = compiled.createNestApplication<NestFastifyApplication>(
      new FastifyAdapter({ pluginTimeout: 60_000 }),
      { forceCloseConnections: true, logger: false },
    )
    t.teardown(() => app.close())
    let passed = 0
    app.use((_request: unknown, _response: unknown, next: () => void) => {
      passed += 1
      next()
    })
    await app.init()
    await app.getHttpAdapter().getInstance().ready()

    t.match(await app.inject({ url: '/things' }), { statusCode: 401 })
    t.equal(passed, 0, 'the guard is before the middleware here as well')
    t.match(await app.inject({ url: '/things', headers: ADMIN }), { statusCode: 200 })
    t.equal(passed, 1)

    await app.get(Orders).create('1')
    await drain(app.getHttpAdapter().getInstance())
    t.same(app.get(Orders).shipped, [{ id: '1' }])
    t.hasProps(app.get(SvcService), ['auth', 'webhooks', 'console', 'kv'])
  },
)

t.test(
  'the bodies of inbound requests are verified as they came, beside the parsers of Nest',
  async (t) => {
    const Echo = controller(
      Controller('echo'),
      class {
        echo() {
          return 'heard'
        }
      },
      { echo: { on: [Post(), PublicRoute()] } },
    )
    const SECRET = 'a secret of github'
    const app = await startApplication(t, {
      nest: { rawBody: true },
      metadata: { controllers: [Echo] },
      svc: {
        core: {
          worker,
          secrets: (name) => ({ GITHUB: SECRET, BOOTSTRAP_KEY })[name] ?? null,
        },
        auth: { excludePaths: ['/hooks/github'] },
        webhooks: {
          allowedEvents: ['order.created'],
          inbound: { github: providers.github({ path: '/hooks/github', secretName: 'GITHUB' }) },
        },
      },
    })
    const heard: unknown[] = []
    await app.get(SvcService).events.subscribe('github.push', async (push) => void heard.push(push))
    // JSON that no serializer writes this way.
    const body = '{ "ref" :"refs\\/heads\\/main",\n "size":1.0 }'
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
    const send = (payload: string) =>
      app.inject({
        method: 'POST',
        url: '/hooks/github',
        headers: {
          'content-type': 'application/json',
          'x-hub-signature-256': signature,
          'x-github-event': 'push',
          'x-github-delivery': '7b0b6d2e-0000-4000-8000-000000000001',
        },
        payload,
      })
    t.match(await send(body), { statusCode: 200 })
    t.match(await send(`${body} `), { statusCode: 401 })
    await drain(app.getHttpAdapter().getInstance())
    t.match(heard, [{ ref: 'refs/heads/main', size: 1 }])
    const echo = { method: 'POST', url: '/echo', payload: { a: 1 } } as const
    t.match(await app.inject(echo), { statusCode: 201, body: 'heard' })
  },
)

t.test('the health of the host is an indicator of terminus', async (t) => {
  const Health = controller(
    Controller('health'),
    class {
      #health: HealthCheckService
      #svc: SvcHealthIndicator
      constructor(health: HealthCheckService, svc: SvcHealthIndicator) {
        this.#health = health
        this.#svc = svc
      }
      check() {
        return this.#health.check([() => this.#svc.isHealthy('svc')])
      }
    },
    { check: { on: [Get(), PublicRoute()] } },
  )
  Inject(HealthCheckService)(Health, undefined, 0)
  Inject(SvcHealthIndicator)(Health, undefined, 1)
  const app = await startApplication(t, {
    metadata: { imports: [TerminusModule.forRoot({ logger: false })], controllers: [Health] },
  })
  const well = await until(
    () => app.inject('/health'),
    ({ statusCode }) => statusCode === 200,
  )
  t.match(well.json(), { status: 'ok', info: { svc: { status: 'up', database: { ok: true } } } })

  const { database } = app.get(SvcService)
  const length = database.options.max - database.totalCount + database.idleCount
  const taken = await Promise.all(Array.from({ length }, () => database.connect()))
  const ill = await app.inject('/health')
  for (const client of taken) client.release()
  t.match(ill, { statusCode: 503 })
  t.match(ill.json(), { error: { svc: { status: 'down', database: { ok: false } } } })
})

t.test('an application that is not on Fastify, or whose plugins fail, does not boot', async (t) => {
  const AppModule = moduleOf({ imports: [SvcModule.forRoot({})] })
  const quiet = { logger: false, abortOnError: false } as const
  await t.rejects(NestFactory.createApplicationContext(AppModule, quiet), {
    code: 'SVC_NEST_NOT_ON_FASTIFY',
  })
  const Wrong = moduleOf({ imports: [SvcModule.forRoot({ core: { databse: '' } as object })] })
  await t.rejects(NestFactory.create(Wrong, new FastifyAdapter(), quiet), {
    code: 'SVC_CORE_INVALID_OPTION',
  })
  const compiled = await Test.createTestingModule({ imports: [Wrong] }).compile()
  const app = compiled.createNestApplication(new FastifyAdapter(), { logger: false })
  t.teardown(() => app.close())
  await t.rejects(app.init(), { code: 'SVC_CORE_INVALID_OPTION' })
})
