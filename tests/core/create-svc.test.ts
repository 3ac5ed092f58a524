import { svcAuth } from '@svc/auth'
import { createSvc, svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import type { FastifyInstance } from 'fastify'
import { providers } from '@svc/webhooks/providers'
import pg from 'pg'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'
import { openReceiver } from '../support/receiver.ts'

const WEBHOOKS = { allowedEvents: ['order.created'], allowedNetworks: ['127.0.0.0/8'] }

t.test('a process without a server publishes, and one with a worker delivers', async (t) => {
  const database = await freshDatabase(t)
  const script = await createSvc({
    core: { database },
    plugins: [
      [svcAuth, { scopes: ['orders:read'] }],
      [svcWebhooks, WEBHOOKS],
    ],
  })
  t.teardown(() => script.close())
  const customer = await openReceiver(t)
  const { url } = customer
  await script.webhooks.register({ url, events: ['order.created'] })
  const user = await script.auth.createUser({ name: 'Ada', email: 'ada@example.com' })
  const { key } = await script.auth.createApiKey({ userId: user.id, label: 'a' })
  t.equal((await script.auth.verifyApiKey({ key })).valid, true)

  await script.transaction(async (db) => {
    await script.events.publish('order.created', { id: 1 }, { db })
  })
  await t.rejects(
    script.transaction(async (db) => {
      await script.events.publish('order.created', { id: 2 }, { db })
      throw new Error('no order')
    }),
    { message: 'no order' },
  )
  t.equal(customer.received.length, 0, 'nothing is delivered here')

  const handled: unknown[] = []
  const worker = await createSvc({
    core: { database, worker: { enabled: true } },
    plugins: [[svcWebhooks, WEBHOOKS]],
  })
  t.teardown(() => worker.close())
  await worker.events.subscribe('order.created', (payload) => void handled.push(payload))
  await script.events.publish('order.created', { id: 3 })
  await until(() => customer.received.length === 2 && handled.length === 1)
  t.strictSame(
    customer.received.map(({ body }) => body.payload as unknown),
    [{ id: 1 }, { id: 3 }],
  )
  t.strictSame(handled, [{ id: 3 }])
})

t.test('it has no routes, and does not warn that they are open to everyone', async (t) => {
  const database = await freshDatabase(t)
  const log: { msg: string }[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line) as { msg: string }) }
  const routes: string[] = []
  const inbound = { github: providers.github({ path: '/in', secretName: 'GITHUB' }) }
  const svc = await createSvc({
    core: { database, secrets: () => 'a secret' },
    plugins: [
      [
        async (app: FastifyInstance) =>
          app.addHook('onRoute', ({ url }: { url: string }) => void routes.push(url)),
      ],
      [svcWebhooks, { ...WEBHOOKS, inbound }],
    ],
    logger: { level: 'warn', stream },
  })
  await svc.close()
  t.strictSame(routes, [])
  t.strictSame(log, [])
})

t.test('after close() every call rejects, with a pool of its own too', async (t) => {
  const pool = new pg.Pool({ connectionString: await freshDatabase(t) })
  t.teardown(() => pool.end())
  const svc = await createSvc({
    core: { database: pool },
    plugins: [[svcAuth], [svcWebhooks, WEBHOOKS]],
  })
  await svc.close()
  await svc.close()
  const calls: Record<string, () => Promise<unknown>> = {
    publish: () => svc.events.publish('order.created', {}),
    subscribe: () => svc.events.subscribe('order.created', () => {}),
    transaction: () => svc.transaction(async () => {}),
    get: () => svc.kv.get('a'),
    call: () => Promise.resolve(svc.actions.call('svc.webhooks.list' as never)),
    list: () => svc.webhooks.list({}),
    verify: () => svc.auth.verifyApiKey({ key: 'a' }),
    as: () => svc.webhooks.as({ tenant: 'acme' }).list({}),
    erase: () => svc.eraseTenant('acme'),
    health: () => svc.health(),
    query: () => svc.database.query('select 1'),
    connect: () => svc.database.connect(),
  }
  for (const [name, call] of Object.entries(calls)) {
    await t.rejects(call, { code: 'SVC_CLOSED', statusCode: 503, message: /is closed/ }, name)
  }
  t.strictSame((await pool.query('select 1 as one')).rows, [{ one: 1 }], 'the pool is not ended')
})

t.test('what is wrong is named, and a boot that fails leaves nothing running', async (t) => {
  const database = await freshDatabase(t)
  const wrong = (given: unknown) => createSvc(given as never)
  await t.rejects(wrong({ database }), {
    code: 'SVC_CORE_INVALID_OPTION',
    message: 'createSvc: there is no option "database"; there are: core, plugins, logger',
  })
  await t.rejects(wrong({ core: { database }, plugins: [svcAuth] }), {
    code: 'SVC_CORE_INVALID_OPTION',
    message: /the option "plugins" must be a list of pairs.*element \[0\]/,
  })
  await t.rejects(wrong({ core: { database, worker: true } }), {
    code: 'SVC_CORE_INVALID_OPTION',
    message: /"worker" must be an object/,
  })
  await t.rejects(wrong({ core: { database, nope: 1 } }), { code: 'SVC_CORE_INVALID_OPTION' })
  await t.rejects(createSvc({ core: { database }, plugins: [[svcCore, { database }]] }), {
    code: 'SVC_CORE_ALREADY_REGISTERED',
  })
  await t.rejects(createSvc({ core: { database: 'postgres://postgres@127.0.0.1:1/none' } }), {
    code: 'SVC_CORE_DATABASE_UNREACHABLE',
  })
  // @ts-expect-error -- options are those of the plugin
  const wrongType = () => createSvc({ plugins: [[svcWebhooks, { allowedEvents: 7 }]] })
  await t.rejects(wrongType, { code: 'SVC_CORE_INVALID_OPTION' })
})
