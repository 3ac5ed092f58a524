/** Code of the host that waits for a Postgres that accepts statements and answers none. */
import Fastify from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore, type Svc } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import t from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { until } from '../support/until.ts'

/** Below the time limits of statements, and far above the two seconds that these calls wait. */
const SOON_MS = 12_000
const ID = '01900000-0000-7000-8000-000000000000'
const SINCE = '2026-01-01T00:00:00Z'

type Call = (svc: Svc) => unknown
/** Asks Postgres nothing. */
const LOCAL = null
/** Waits for as long as a statement of its own may take: see docs/how-it-works/several-processes.md. */
const LONGER = undefined

const CALLS: { [Part in 'events' | 'kv' | 'audit' | 'auth' | 'webhooks']: Calls<Svc[Part]> } = {
  events: {
    publish: LONGER,
    subscribe: LONGER,
    unsubscribe: LONGER,
    search: ({ events }) => events.search(),
    find: ({ events }) => events.find('order.created', 'one'),
    deadLetters: ({ events }) => events.deadLetters('order.created'),
    redrive: ({ events }) => events.redrive('order.created'),
    pause: ({ events }) => events.pause('order.created'),
    resume: ({ events }) => events.resume('order.created'),
  },
  kv: {
    get: ({ kv }) => kv.get('key'),
    set: ({ kv }) => kv.set('key', 1),
    delete: ({ kv }) => kv.delete('key'),
    setIfAbsent: ({ kv }) => kv.setIfAbsent('key', 1),
    increment: ({ kv }) => kv.increment('count'),
  },
  audit: { list: ({ audit }) => audit.list() },
  auth: {
    createUser: ({ auth }) => auth.createUser({ email: 'ada@example.com', name: 'Ada' }),
    listUsers: ({ auth }) => auth.listUsers(),
    getUser: ({ auth }) => auth.getUser(ID),
    deleteUser: ({ auth }) => auth.deleteUser(ID),
    createApiKey: ({ auth }) => auth.createApiKey({ userId: ID }),
    getApiKey: ({ auth }) => auth.getApiKey(ID),
    listApiKeys: ({ auth }) => auth.listApiKeys({}),
    updateApiKey: ({ auth }) => auth.updateApiKey({ id: ID, label: 'new' }),
    rotateApiKey: ({ auth }) => auth.rotateApiKey({ id: ID }),
    revokeApiKey: ({ auth }) => auth.revokeApiKey(ID),
    importApiKeys: ({ auth }) => auth.importApiKeys([{ userId: ID, sha256: '0'.repeat(64) }]),
    planChanged: ({ auth }) => auth.planChanged('acme'),
    validateApiKey: ({ auth }) => auth.validateApiKey('no-such-key'),
    verifyApiKey: ({ auth }) => auth.verifyApiKey({ key: 'no-such-key' }),
    checkApiKey: ({ auth }) => auth.checkApiKey({ id: ID }),
    sealBootstrapKey: LOCAL,
    listScopes: LOCAL,
    listTenants: ({ auth }) => auth.listTenants(),
    getUsage: ({ auth }) => auth.getUsage(),
    nearLimits: ({ auth }) => auth.nearLimits(),
    as: LOCAL,
  },
  webhooks: {
    register: ({ webhooks }) => webhooks.register({ url: 'https://example.com', events: ['*'] }),
    list: ({ webhooks }) => webhooks.list(),
    count: ({ webhooks }) => webhooks.count(),
    searchDeliveries: ({ webhooks }) => webhooks.searchDeliveries({ latest: true }),
    countDeadLetters: ({ webhooks }) => webhooks.countDeadLetters(),
    get: ({ webhooks }) => webhooks.get(ID),
    signing: ({ webhooks }) => webhooks.signing(ID),
    update: ({ webhooks }) => webhooks.update({ id: ID, active: false }),
    delete: ({ webhooks }) => webhooks.delete(ID),
    rotateSecret: ({ webhooks }) => webhooks.rotateSecret({ id: ID }),
    test: ({ webhooks }) => webhooks.test(ID),
    listEvents: LOCAL,
    feed: ({ webhooks }) => webhooks.feed({ after: 'start', wait: 20 }),
    webhookFeed: ({ webhooks }) => webhooks.webhookFeed({ id: ID }),
    event: ({ webhooks }) => webhooks.event(ID),
    deliver: ({ webhooks }) =>
      webhooks.deliver({
        webhookId: ID,
        event: 'order.created',
        payload: {},
        deliveryId: ID,
        attempt: 1,
      }),
    listDeliveries: ({ webhooks }) => webhooks.listDeliveries(),
    getDelivery: ({ webhooks }) => webhooks.getDelivery({ webhookId: ID, deliveryId: ID }),
    redeliver: ({ webhooks }) => webhooks.redeliver({ webhookId: ID, deliveryId: ID }),
    listDeadLetters: ({ webhooks }) => webhooks.listDeadLetters(),
    redrive: ({ webhooks }) => webhooks.redrive(ID),
    recover: ({ webhooks }) => webhooks.recover({ id: ID, what: 'dead', since: SINCE }),
    recoverMany: ({ webhooks }) => webhooks.recoverMany({ all: true, what: 'dead', since: SINCE }),
    listRecoveries: ({ webhooks }) => webhooks.listRecoveries(ID),
    getRecovery: ({ webhooks }) => webhooks.getRecovery({ webhookId: ID, id: ID }),
    stats: ({ webhooks }) => webhooks.stats(),
    pauseAll: ({ webhooks }) => webhooks.pauseAll(),
    resumeAll: ({ webhooks }) => webhooks.resumeAll(),
    pauseHandler: ({ webhooks }) => webhooks.pauseHandler({ subscription: 'no' }),
    resumeHandler: ({ webhooks }) => webhooks.resumeHandler({ subscription: 'no' }),
    listHandlerDeadLetters: ({ webhooks }) => webhooks.listHandlerDeadLetters(),
    redriveHandler: ({ webhooks }) => webhooks.redriveHandler({ subscription: 'no' }),
    deleteHandlerDeadLetter: ({ webhooks }) => webhooks.deleteHandlerDeadLetter(ID),
    listInbound: ({ webhooks }) => webhooks.listInbound(),
    tryFilter: ({ webhooks }) => webhooks.tryFilter({ filter: null, events: ['*'] }),
    listTenants: ({ webhooks }) => webhooks.listTenants(),
    listSources: LOCAL,
    testInbound: LOCAL,
    replayInbound: ({ webhooks }) => webhooks.replayInbound(ID),
    as: LOCAL,
  },
}
type Calls<Part> = { [Name in keyof Part]: Call | typeof LOCAL | typeof LONGER }

t.test('no operation waits longer for a silent Postgres than a request does', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(svcCore, { database: { connectionString: proxy.url, max: 5 } })
  await app.register(svcAuth)
  await app.register(svcWebhooks, { allowedEvents: ['order.created'] })
  await app.ready()
  const { svc } = app
  const calls: [name: string, call: Call][] = [
    ['eraseTenant', () => svc.eraseTenant('acme')],
    ...Object.entries(CALLS).flatMap(([part, functions]) =>
      Object.entries<Call | null | undefined>(functions).flatMap(([name, call]) =>
        call ? [[`${part}.${name}`, call] as [string, Call]] : [],
      ),
    ),
  ]
  for (const [part, functions] of Object.entries(CALLS)) {
    t.same(Object.keys(svc[part as 'kv']).sort(), Object.keys(functions).sort(), 'all are listed')
  }

  proxy.silence()
  const beganMs = performance.now()
  await Promise.all(
    calls.map(async ([name, call]) => {
      await t.rejects(
        async () => call(svc),
        { statusCode: 503, code: /^SVC_\w*UNAVAILABLE$/ },
        name,
      )
      const ms = Math.round(performance.now() - beganMs)
      t.ok(ms < SOON_MS, `${name}: ${ms} ms`)
    }),
  )
  proxy.mend()
  await until(svc.health, ({ ok }) => ok)
})
