import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { svcCore } from '@svc/core'
import { advance, drain, receiver, signed } from '@svc/testing'
import { svcWebhooks } from '@svc/webhooks'
import { startHost } from '../core/support/host.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { newHost } from '../support/new-host.ts'

const LATE = { worker: { retryDelaySeconds: 600, maxAttempts: 3 } }

t.test('drain waits for handlers, and for the events that they publish', async (t) => {
  const handled: string[] = []
  const { app } = await startHost(t, {
    async setUp({ svc }) {
      await svc.events.subscribe('a', async () => {
        handled.push('a')
        await svc.events.publish('b', 1)
      })
      await svc.events.subscribe('b', () => void handled.push('b'))
    },
  })
  await app.svc.events.publish('a', 1)
  await drain(app)
  t.strictSame(handled, ['a', 'b'])
  await drain(app)
})

t.test('drain boots the host that it is given', async (t) => {
  const database = await freshDatabase(t)
  const app = newHost(t)
  void app.register(svcCore, { database })
  await drain(app)
  t.ok(app.svc.events)
})

t.test(
  'drain does not wait for a retry that is due later, until advance makes it due',
  async (t) => {
    const attempts: number[] = []
    const { app } = await startHost(t, {
      core: LATE,
      setUp: ({ svc }) =>
        svc.events.subscribe('a', (_payload, { attempt }) => {
          attempts.push(attempt)
          throw new Error('no')
        }),
    })
    await app.svc.events.publish('a', 1)
    await drain(app)
    t.strictSame(attempts, [1])
    await advance(app, 400)
    await drain(app)
    t.strictSame(attempts, [1], 'the delay is at least 600 seconds')
    await advance(app, 2 * 600)
    await drain(app)
    t.strictSame(attempts, [1, 2])
    await advance(app, 4 * 600)
    await drain(app)
    t.match(await app.svc.events.deadLetters('a'), [{ attempts: 3 }])
  },
)

t.test('drain names what still waits', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const { app } = await startHost(t, {
    setUp: ({ svc }) => svc.events.subscribe('a', () => finished, { subscription: 'mailing' }),
  })
  await app.svc.events.publish('a', 1)
  await t.rejects(drain(app, { timeoutMs: 50 }), {
    code: 'SVC_CORE_NOT_DRAINED',
    message: /after 50 ms.* 1 events for the subscription "mailing" \(a\)/,
  })
  finish()
  await drain(app)
})

t.test('drain says where no worker runs', async (t) => {
  const { app } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: ({ svc }) => svc.events.subscribe('a', () => {}),
  })
  await app.svc.events.publish('a', 1)
  await t.rejects(drain(app, { timeoutMs: 50 }), { message: /worker\.enabled is false/ })
})

t.test('arguments of the testing kit are checked', async (t) => {
  const { app } = await startHost(t)
  const invalid = { code: 'SVC_CORE_INVALID_OPTION' }
  await t.rejects(advance(app, -1), invalid)
  await t.rejects(advance(app, Number.NaN), invalid)
  await t.rejects(drain(app, { timeoutMs: 0 }), invalid)
  await t.rejects(drain(app, 5000 as never), { ...invalid, message: /must be an object, got 5000/ })
  await t.rejects(drain(undefined as never), invalid)
  const other = newHost(t)
  await t.rejects(drain(other), { ...invalid, message: /has no svcCore/ })
})

t.test('entries with a ttl expire when advance has passed it', async (t) => {
  const { app } = await startHost(t)
  await app.svc.kv.set('a', 1, { ttlSeconds: 1000 })
  await app.svc.kv.set('b', 1)
  await advance(app, 500)
  t.equal(await app.svc.kv.get('a'), 1)
  await advance(app, 501)
  t.equal(await app.svc.kv.get('a'), undefined)
  t.equal(await app.svc.kv.get('b'), 1)
})

t.test('a test receiver records and verifies deliveries, and answers as set', async (t) => {
  const partner = await receiver()
  const app = await startWebhooks(t)
  t.teardown(() => partner.close())
  const { id, secret } = await app.svc.webhooks.register({ url: partner.url, events: ['a'] })
  partner.answer(({ headers }) => (headers['x-svc-attempt'] === '1' ? 500 : { status: 204 }))
  await app.svc.events.publish('a', { n: 1 })
  await drain(app)
  t.equal(partner.received[0]?.verified, null)
  partner.secret = secret
  await advance(app, 2 * 600)
  const [first, second] = await partner.waitFor(2)
  t.match(second, { method: 'POST', body: { event: 'a', payload: { n: 1 } }, verified: true })
  t.equal(second?.raw, first?.raw)
  await drain(app)
  const log = await app.svc.webhooks.listDeliveries({ webhookId: id })
  t.strictSame(
    log.map(({ status }) => status),
    ['delivered', 'failed'],
  )
  partner.secret = 'whsec_another'
  await app.svc.webhooks.test(id)
  t.equal((await partner.waitFor(3))[2]?.verified, false)
  await t.rejects(partner.waitFor(9, { timeoutMs: 20 }), {
    message: /3 of 9 .*\(2 × a, webhook\.test\): check .* advance\(app, seconds\)/,
  })
})

t.test('a test receiver that got nothing says what to check', async (t) => {
  const partner = await receiver()
  t.teardown(() => partner.close())
  const error = await partner.waitFor(1, { timeoutMs: 20 }).catch((reason: Error) => reason)
  const { message } = error as Error
  t.match(message, /^receiver: 0 of 1 requests came within 20 ms: check /)
  for (const hint of ['await app.ready()', `an active webhook with the url ${partner.url}`]) {
    t.ok(message.includes(hint), hint)
  }
})

t.test('drain does not wait for the deliveries of an inactive webhook', async (t) => {
  const app = await startWebhooks(t)
  const partner = await receiver()
  t.teardown(() => partner.close())
  const { id } = await app.svc.webhooks.register({ url: partner.url, events: ['a'] })
  await app.svc.webhooks.update({ id, active: false })
  await app.svc.webhooks.test(id)
  await drain(app)
  t.equal(partner.received.length, 0)
})

async function startWebhooks(t: Test): Promise<FastifyInstance> {
  const app = Fastify({ pluginTimeout: 60_000 })
  const database = await freshDatabase(t)
  t.teardown(() => app.close())
  await app.register(svcCore, { database, ...LATE })
  await app.register(svcWebhooks, { allowedEvents: ['a'], allowedNetworks: ['127.0.0.0/8'] })
  await app.ready()
  return app
}

t.test('signed makes a request of a provider, for app.inject', (t) => {
  const { method, headers, payload } = signed('github', { a: 1 }, { secret: 'x' })
  t.equal(method, 'POST')
  t.match(headers, { 'x-hub-signature-256': /^sha256=[0-9a-f]{64}$/, 'x-github-event': String })
  t.equal(payload, '{"a":1}')
  t.throws(() => signed('nobody'), { message: /no preset "nobody"/ })
  t.end()
})
