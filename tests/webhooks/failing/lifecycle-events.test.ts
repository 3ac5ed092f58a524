import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { until, untilCount } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

const once = { core: { worker: { maxAttempts: 1 } } }

t.test('a dead delivery is published to handlers and subscribed webhooks', async (t) => {
  const { app, ask, register } = await startHost(t, once)
  const broken = await openReceiver(t, { answer: 500 })
  const asking = await openReceiver(t)
  const other = await openReceiver(t)
  const heard: object[] = []
  await app.svc.events.subscribe('svc.delivery.dead', (payload) => {
    heard.push(payload)
  })
  const { id } = await register(broken.url, ['order.created'])
  await register(asking.url, ['svc.delivery.dead'])
  await register(other.url, ['*'])
  const { id: eventId } = await app.svc.events.publish('order.created', { n: 1 }, { id: 'o-1' })

  const [request] = await asking.waitFor(1)
  const { payload } = request!.body
  const [row] = (await ask('GET', `/${id}/deliveries`)).body
  const { deliveryId } = row
  const expected = { webhookId: id, tenant: null, url: broken.url, deliveryId, eventId }
  t.match(payload, { ...expected, event: 'order.created', attempts: 1 })
  t.match(payload.lastError, { error: 'http', statusCode: 500, attemptedAt: row.attemptedAt })
  await until(() => heard.length === 1)
  t.strictSame(heard, [payload])
  t.notOk(JSON.stringify(payload).includes('whsec_'))

  await app.svc.events.publish('order.created', { n: 2 })
  await asking.waitFor(2)
  await other.waitFor(2)
  t.strictSame(
    other.received.map(({ body }) => body.event),
    ['order.created', 'order.created'],
    '"*" stands for none of them',
  )
})

t.test('"*" and a lifecycle event can be listed together', async (t) => {
  const { app, ask, register } = await startHost(t, once)
  const broken = await openReceiver(t, { answer: 500 })
  const all = await openReceiver(t)
  await register(broken.url, ['order.shipped'])
  const { id } = await register(all.url, ['*', 'svc.delivery.dead'])
  await app.svc.events.publish('order.shipped', {})
  const requests = await all.waitFor(2)
  t.same(
    new Set(requests.map(({ body }) => body.event)),
    new Set(['order.shipped', 'svc.delivery.dead']),
  )
  t.same((await ask('GET', `/${id}`)).body.events, ['*', 'svc.delivery.dead'])

  const wrong = await ask('POST', '', { url: all.url, events: ['svc.delivery.died'] })
  t.match(wrong, { status: 400, body: { code: 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED' } })
  t.match(wrong.body.message, /svc\.delivery\.dead, svc\.key\.created/)
})

t.test('a dead delivery of a lifecycle event publishes no event', async (t) => {
  const { app, ask, register } = await startHost(t, once)
  const broken = await openReceiver(t, { answer: 500 })
  const { id } = await register(broken.url, ['order.created', 'svc.delivery.dead'])
  await app.svc.events.publish('order.created', {})
  const dead = await untilCount(2, async () => (await ask('GET', `/${id}/dead-letters`)).body)
  t.same(
    dead.map(({ event }: { event: string }) => event),
    ['svc.delivery.dead', 'order.created'],
  )
  const published = await app.svc.database.query(
    `select count(*)::int as count from svc."__svc.events" where name = 'svc.delivery.dead'`,
  )
  t.equal(published.rows[0].count, 1)
})

t.test('a dead delivery of a tenant reaches the tenant and the operator alone', async (t) => {
  const { app } = await startHost(t, once)
  const broken = await openReceiver(t, { answer: 500 })
  const [acme, globex, operator] = [
    await openReceiver(t),
    await openReceiver(t),
    await openReceiver(t),
  ]
  const events = ['svc.delivery.dead']
  const { webhooks } = app.svc
  await webhooks.register({ url: broken.url, events: ['order.created'], tenant: 'acme' })
  await webhooks.register({ url: acme.url, events, tenant: 'acme' })
  await webhooks.register({ url: globex.url, events, tenant: 'globex' })
  await webhooks.register({ url: operator.url, events })
  await app.svc.events.publish('order.created', {}, { tenant: 'acme' })
  await Promise.all([acme.waitFor(1), operator.waitFor(1)])
  t.match(acme.received[0]!.body.payload, { tenant: 'acme', event: 'order.created' })
  await webhooks.register({ url: broken.url, events: ['order.shipped'], tenant: 'globex' })
  await app.svc.events.publish('order.shipped', {}, { tenant: 'globex' })
  await globex.waitFor(1)
  t.match(globex.received[0]!.body.payload, { tenant: 'globex', event: 'order.shipped' })
})

t.test('lifecycle events are stored without subscribers as well, for the feed', async (t) => {
  const { app, ask, register } = await startHost(t, { ...once, deactivateOnGone: true })
  const gone = await openReceiver(t, { answer: 410 })
  const { id } = await register(gone.url)
  await app.svc.events.publish('order.created', {})
  await until(async () => (await ask('GET', `/${id}`)).body.active === false)
  const { rows } = await app.svc.database.query(
    `select name from svc."__svc.events" order by position`,
  )
  t.same(rows, [
    { name: 'order.created' },
    { name: 'svc.webhook.disabled' },
    { name: 'svc.delivery.dead' },
  ])
})

t.test('the disabling of a gone webhook is published, and is in the audit', async (t) => {
  const { app, register } = await startHost(t, { deactivateOnGone: true })
  const gone = await openReceiver(t, { answer: 410 })
  const heard: object[] = []
  await app.svc.events.subscribe('svc.webhook.disabled', (payload) => {
    heard.push(payload)
  })
  const { id } = await register(gone.url)
  await app.svc.events.publish('order.created', {})
  await until(() => heard.length === 1)
  t.match(heard, [{ webhookId: id, url: gone.url, reason: 'gone', lastError: { statusCode: 410 } }])
  const rows = await app.svc.audit.list({ target: id, action: 'webhook.disable' })
  t.match(rows, [{ actor: { kind: 'system' }, changes: { active: { from: true, to: false } } }])
})

t.test('the disabling of a webhook that refuses a lifecycle event is not published', async (t) => {
  const { app, ask, register } = await startHost(t, { ...once, deactivateOnGone: true })
  const [broken, gone] = [
    await openReceiver(t, { answer: 500 }),
    await openReceiver(t, { answer: 410 }),
  ]
  await app.svc.events.subscribe('svc.webhook.disabled', () => {})
  await register(broken.url, ['order.created'])
  const { id } = await register(gone.url, ['svc.delivery.dead'])
  await app.svc.events.publish('order.created', {})
  await until(async () => (await ask('GET', `/${id}`)).body.active === false)
  const stored = async () => {
    const { rows } = await app.svc.database.query(
      `select name from svc."__svc.events" where name = 'svc.webhook.disabled'`,
    )
    return rows.length
  }
  t.equal(await stored(), 0)
  const audited = await app.svc.audit.list({ target: id, action: 'webhook.disable' })
  t.equal(audited.length, 1, 'the audit has it')

  const { id: other } = await register(gone.url, ['order.shipped'])
  await app.svc.events.publish('order.shipped', {})
  await until(async () => (await ask('GET', `/${other}`)).body.active === false)
  t.equal(await stored(), 1, 'that of another delivery is published')
})
