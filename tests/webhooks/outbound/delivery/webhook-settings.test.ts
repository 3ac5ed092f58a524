// What the settings of a webhook do to its attempts.
import Fastify from 'fastify'
import t from 'tap'
import { svcCore } from '@svc/core'
import { verifyDelivery } from '@svc/receiver'
import { svcWebhooks } from '@svc/webhooks'
import { advance } from '@svc/testing'
import { openReceiver } from '../../../support/receiver.ts'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { until, untilCount } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

const events = ['order.created']

t.test('each attempt has the headers of the webhook', async (t) => {
  const receiver = await openReceiver(t, { answer: [500, 200] })
  const { app } = await startHost(t)
  const { secret } = await app.svc.webhooks.register({
    url: receiver.url,
    events,
    headers: { Authorization: 'Bearer abc', 'X-Text': 'ü' },
  })
  await app.svc.events.publish('order.created', { id: 1 })
  for (const { headers, raw: body } of await receiver.waitFor(2)) {
    t.equal(headers.authorization, 'Bearer abc')
    t.equal(headers['x-text'], 'ü')
    t.equal(headers['content-type'], 'application/json')
    t.match(verifyDelivery({ headers, body, secret }), { event: 'order.created' })
  }
})

t.test('without its own retries a delivery has those of its publisher again', async (t) => {
  const receiver = await openReceiver(t, { answer: 500 })
  const worker = { maxAttempts: 3, retryDelaySeconds: 0 }
  const { app, ask } = await startHost(t, { core: { worker } })
  const { id } = await app.svc.webhooks.register({
    url: receiver.url,
    events,
    retry: { maxAttempts: 2, delaysSeconds: [3600] },
  })
  await app.svc.events.publish('order.created', { id: 1 })
  const statuses = async (): Promise<string[]> =>
    (await ask('GET', `/${id}/deliveries`)).body.map(({ status }: { status: string }) => status)
  await until(async () => (await statuses()).length === 1)
  await app.svc.webhooks.update({ id, retry: null })
  await advance(app, 4000)
  await until(async () => (await statuses())[0] === 'dead')
  t.same(await statuses(), ['dead', 'failed', 'failed'])
})

t.test('an attempt ends after the time of its webhook', async (t) => {
  const receiver = await openReceiver(t, { answer: 'timeout' })
  const { app } = await startHost(t, { deliveryTimeoutMs: 60_000 })
  const { id } = await app.svc.webhooks.register({ url: receiver.url, events, timeoutMs: 200 })
  const attempt = await app.svc.webhooks.deliver({
    webhookId: id,
    event: 'order.created',
    payload: {},
    deliveryId: '018f4e5a-7b1c-7def-8abc-0123456789ab',
    attempt: 1,
  })
  t.match(attempt, { status: 'failed', error: 'timeout' })
  t.ok(attempt.durationMs! < 30_000)
})

t.test('a transform makes the body that is signed and sent', async (t) => {
  const receiver = await openReceiver(t)
  const { app } = await startHost(t, {
    transforms: {
      xml: async ({ event, payload, tenant, deliveryId }) => ({
        body: `<${event} id="${payload.id}" tenant="${tenant}">${deliveryId}</${event}>`,
        contentType: 'text/xml',
        headers: { 'X-One': 'transform', 'X-Two': 'transform' },
      }),
    },
  })
  const headers = { 'x-two': 'webhook' }
  const { secret } = await app.svc.webhooks.register({
    url: receiver.url,
    events,
    headers,
    transform: 'xml',
  })
  receiver.secret = secret
  await app.svc.events.publish('order.created', { id: 7 })
  const [request] = await receiver.waitFor(1)
  const deliveryId = request!.headers['x-svc-delivery-id']
  t.equal(request!.raw, `<order.created id="7" tenant="null">${deliveryId}</order.created>`)
  t.match(request!.headers, {
    'content-type': 'text/xml',
    'x-one': 'transform',
    'x-two': 'webhook',
  })
  t.equal(request!.verified, true)
  t.throws(() => verifyDelivery({ ...request!, body: request!.raw, secret }), {
    code: 'SVC_DELIVERY_BODY_NOT_JSON',
  })
})

t.test('null from a transform skips the delivery, and a throw is a failed attempt', async (t) => {
  const receiver = await openReceiver(t)
  let throws = 1
  const { app } = await startHost(t, {
    transforms: {
      some: ({ payload }) => {
        if (payload.id === 1) return null
        if (throws-- > 0) throw new Error('broken')
        return { body: payload }
      },
    },
  })
  const { id } = await app.svc.webhooks.register({ url: receiver.url, events, transform: 'some' })
  await app.svc.events.publish('order.created', { id: 1 })
  await app.svc.events.publish('order.created', { id: 2 })
  t.match(await receiver.waitFor(1), [{ raw: '{"id":2}', headers: { 'x-svc-attempt': '2' } }])
  const log = await untilCount(3, () => app.svc.webhooks.listDeliveries(id))
  const told = log.map(({ payload, status, error }) => [
    (payload as { id: number }).id,
    status,
    error,
  ])
  t.same(told.toSorted(), [
    [1, 'skipped', null],
    [2, 'delivered', null],
    [2, 'failed', 'transform'],
  ])
})

t.test('a host without the transform leaves the delivery to one that has it', async (t) => {
  const receiver = await openReceiver(t)
  const database = await freshDatabase(t)
  const own = { own: () => ({ body: 'own' }) }
  const first = await startHost(t, {
    database,
    transforms: own,
    core: { worker: { enabled: false } },
  })
  const { id } = await first.app.svc.webhooks.register({
    url: receiver.url,
    events,
    transform: 'own',
  })
  const without = await startHost(t, { database })
  await t.rejects(
    without.app.svc.webhooks.deliver({
      webhookId: id,
      event: 'order.created',
      payload: {},
      deliveryId: '018f4e5a-7b1c-7def-8abc-0123456789ab',
      attempt: 1,
    }),
    { code: 'SVC_WEBHOOKS_UNKNOWN_TRANSFORM' },
  )
  await first.app.svc.events.publish('order.created', {})
  await until(
    async () =>
      (
        await first.app.svc.database.query(`select 1 from svc_jobs.job
        where name = '__svc.webhooks.deliver' and state < 'active' and start_after > now() + interval '5 s'`)
      ).rowCount,
    (count) => count === 1,
  )
  t.same(await without.app.svc.webhooks.listDeliveries(id), [], 'no attempt was used up')
  t.same(receiver.received, [])
})

t.test('an invalid signing key is an error at boot', async (t) => {
  const database = await freshDatabase(t)
  for (const secret of [null, 'whsk_AAAA', 'whsec_AAAA']) {
    const app = Fastify({ pluginTimeout: 60_000 })
    const good = `whsk_${Buffer.alloc(32, 1).toString('base64')}`
    await app.register(svcCore, {
      database,
      secrets: (name) => (name === 'KEY' ? secret : good),
    })
    app.register(svcWebhooks, { allowedEvents: [], ed25519: { secretNames: ['GOOD', 'KEY'] } })
    await t.rejects(async () => await app.ready(), {
      code: 'SVC_CORE_INVALID_OPTION',
      message: /secret "KEY".*whsk_/,
    })
    await app.close()
  }
})
