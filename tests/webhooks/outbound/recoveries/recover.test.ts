import t from 'tap'
import { useCore } from '@svc/core/internal'
import { openReceiver } from '../../../support/receiver.ts'
import { recoverMissed } from '../../../../packages/webhooks/src/outbound/recoveries/recover-missed.ts'
import { until, untilCount } from '../../../support/until.ts'
import {
  brokenWebhook,
  deadLettersOf,
  finished,
  idOf,
  since,
} from '../../support/broken-webhook.ts'
import { startHost } from '../../support/host.ts'

t.test('dead letters of a span are counted, and delivered under their delivery ids', async (t) => {
  const { host, id, receiver, repair } = await brokenWebhook(t, 1, 1)
  const { events } = host.app.svc
  await events.publish('order.created', { n: 1 })
  await deadLettersOf(host, id, 1)
  const [first] = await host.app.svc.webhooks.listDeadLetters(id)
  const middle = new Date(Date.now() + 50).toISOString()
  await until(
    () => Date.now(),
    (now) => now > Date.parse(middle),
  )
  for (let n = 2; n <= 4; n++) await events.publish('order.created', { n })
  await deadLettersOf(host, id, 4)
  repair()

  const dry = { what: 'dead', since: middle, dryRun: true }
  t.match(await host.ask('POST', `/${id}/recover`, dry), { status: 200, body: { deliveries: 3 } })
  t.same((await host.ask('GET', `/${id}/recoveries`)).body, [], 'nothing began')
  const answer = await host.ask('POST', `/${id}/recover`, { what: 'dead', since: middle })
  t.match(answer, { status: 202, body: { deliveries: 3 } })
  t.match(await finished(host, id), [{ id: answer.body.id, what: 'dead', deliveries: 3, done: 3 }])
  const one = await host.ask('GET', `/${id}/recoveries/${answer.body.id}`)
  t.match(one.body, { webhookId: id, deliveries: 3, done: 3, perSecond: null })
  t.equal((await host.ask('GET', `/${id}/recoveries?tenant=`)).body.length, 1)
  t.same((await host.ask('GET', `/${id}/recoveries?tenant=acme`)).body, [])
  t.same(
    (await host.app.svc.webhooks.listDeadLetters(id)).map(({ deliveryId }) => deliveryId),
    [first?.deliveryId],
  )
  await receiver.waitFor(7)
  const log = await untilCount(3, () =>
    host.app.svc.webhooks.listDeliveries({ webhookId: id, status: 'delivered' }),
  )
  t.same([...new Set(log.map(({ attempt }) => attempt))], [2], 'the numbers of attempts go on')
  t.match(await host.app.svc.audit.list({ action: 'webhook.recover' }), [
    { target: { id }, changes: { deliveries: { to: 3 } } },
  ])
})

t.test('of two recoveries at once, each dead letter is counted by one', async (t) => {
  const { host, id, repair } = await brokenWebhook(t, 1, 1)
  for (let n = 0; n < 20; n++) await host.app.svc.events.publish('order.created', { n })
  await deadLettersOf(host, id, 20)
  repair()
  const recover = () => host.app.svc.webhooks.recover({ id, what: 'dead', since, perSecond: 10 })
  const results = await Promise.all([recover(), recover(), host.app.svc.webhooks.redrive(id)])
  const [one, other, { redriven }] = results
  t.equal(one.deliveries + other.deliveries + redriven, 20)
  const recoveries = await finished(host, id)
  t.equal(
    recoveries.reduce((sum, { done }) => sum + done, redriven),
    20,
  )
})

t.test('a recovery keeps its rate', async (t) => {
  const { host, id, receiver, repair } = await brokenWebhook(t, 1, 1)
  for (let n = 0; n < 6; n++) await host.app.svc.events.publish('order.created', { n })
  await deadLettersOf(host, id, 6)
  repair()
  const startedAt = performance.now()
  await host.app.svc.webhooks.recover({ id, what: 'dead', since, perSecond: 2 })
  await receiver.waitFor(12)
  t.ok(performance.now() - startedAt > 1900, 'the last two of six follow after two seconds')
})

t.test('a recovery of failed deliveries attempts them now', async (t) => {
  const { host, id, receiver, repair } = await brokenWebhook(t, 5, 3600)
  for (let n = 0; n < 3; n++) await host.app.svc.events.publish('order.created', { n })
  await untilCount(3, () => host.app.svc.webhooks.listDeliveries(id))
  repair()
  const before = { what: 'failed', since, until: '2020-01-02T00:00:00Z' }
  t.match((await host.ask('POST', `/${id}/recover`, before)).body, { deliveries: 0 })
  const body = { what: 'failed', since }
  t.match((await host.ask('POST', `/${id}/recover`, { ...body, dryRun: true })).body, {
    deliveries: 3,
  })
  t.match((await host.ask('POST', `/${id}/recover`, body)).body, { deliveries: 3 })
  await receiver.waitFor(6)
  t.equal((await finished(host, id))[0]?.done, 3)
})

t.test(
  'events that a webhook has missed are delivered in the order of their publish',
  async (t) => {
    const host = await startHost(t)
    const { events, webhooks } = host.app.svc
    for (let n = 0; n < 5; n++) await events.publish('order.created', { n, size: n % 2 })
    await events.publish('order.shipped', { n: 9, size: 1 })
    await events.publish('order.created', { n: 8, size: 1 }, { tenant: 'acme' })
    const receiver = await openReceiver(t)
    const { id } = await webhooks.register({
      url: receiver.url,
      events: ['order.created'],
      filter: { payload: { size: 1 } },
    })
    await events.publish('order.created', { n: 10, size: 1 })
    await receiver.waitFor(1)

    const body = { what: 'missing', since }
    const dry = await host.ask('POST', `/${id}/recover`, { ...body, dryRun: true })
    t.match(dry, { status: 200, body: { deliveries: 3 } })
    t.match((await host.ask('POST', `/${id}/recover`, body)).body, { deliveries: 3 })
    const got = await receiver.waitFor(4)
    // They are claimed in this order, and may overtake each other on their way.
    const inOrder = got
      .slice(1)
      .toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
      .map((one) => one.body.payload.n)
    t.same(inOrder, [1, 3, 8])
    await finished(host, id)
    t.match((await host.ask('POST', `/${id}/recover`, body)).body, { deliveries: 0 }, 'none twice')
  },
)

t.test('a tenant gets the events of its own that it has missed', async (t) => {
  const host = await startHost(t)
  const { events, webhooks } = host.app.svc
  await events.publish('order.created', { n: 1 }, { tenant: 'acme' })
  await events.publish('order.created', { n: 2 })
  const receiver = await openReceiver(t)
  const of = { url: receiver.url, events: ['*'], tenant: 'acme' }
  const { id } = await webhooks.register(of)
  t.match(await webhooks.recover({ id, what: 'missing', since }), { deliveries: 1 })
  await receiver.waitFor(1)
})

t.test('missing events are deleted with their recovery', async (t) => {
  const host = await startHost(t)
  const { svc } = host.app
  // At one per second, more than are taken before the webhook is deleted.
  for (let n = 1; n <= 20; n++) await svc.events.publish('order.created', { n })
  const { id } = await host.register('https://receiver.example/', ['order.created'])
  const written = async (): Promise<number> => {
    const { rows } = await svc.database.query<{ count: number }>(
      'select count(*)::int as count from svc."__svc.webhooks.missed_events"',
    )
    return rows[0]?.count ?? -1
  }
  const began = await svc.webhooks.recover({ id, what: 'missing', since, perSecond: 1 })
  t.match(began, { deliveries: 20 })
  t.ok((await written()) > 0, 'they wait for their turn')
  await svc.webhooks.delete(id)
  await until(async () => (await written()) === 0)
})

t.test('an event whose publish saw the webhook as inactive is recovered', async (t) => {
  const host = await startHost(t)
  const { svc } = host.app
  const receiver = await openReceiver(t)
  const { id } = await host.register(receiver.url)
  await svc.webhooks.update({ id, active: false })
  const core = await useCore(host.app)
  const open = Promise.withResolvers<void>()
  const published = Promise.withResolvers<void>()
  const late = svc.transaction(async (db) => {
    await svc.events.publish('order.created', { n: 1 }, { db })
    published.resolve()
    await open.promise
  })
  await published.promise
  await svc.transaction(async (db) => {
    await svc.webhooks.update({ id, active: true }, { db })
    await recoverMissed(core, db, id, since)
  })
  t.match(await svc.webhooks.listRecoveries(id), [{ deliveries: null, done: 0 }])
  open.resolve()
  await late
  t.equal((await receiver.waitFor(1)).length, 1)
  t.match(await finished(host, id), [{ deliveries: 1, done: 1 }])
})

t.test('a wrong recovery is refused', async (t) => {
  const host = await startHost(t)
  const { id } = await host.register('https://receiver.example')
  const recover = (body: object) => host.ask('POST', `/${id}/recover`, body)
  for (const body of [
    {},
    { what: 'dead' },
    { what: 'all', since },
    { what: 'dead', since: 'yesterday' },
    { what: 'dead', since, perSecond: 0 },
  ]) {
    t.equal((await recover(body)).status, 400, JSON.stringify(body))
  }
  t.match(await recover({ what: 'dead', since, until: since }), {
    status: 400,
    body: { code: 'SVC_WEBHOOKS_INVALID_SPAN' },
  })
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
  for (const until of [undefined, inSeconds(7200)]) {
    t.match(await recover({ what: 'dead', since: inSeconds(3600), until }), {
      status: 400,
      body: { message: 'the span is empty: now must be after since' },
    })
  }
  t.match(
    await recover({ what: 'dead', since: inSeconds(10) }),
    { status: 202 },
    'clocks may differ',
  )
  for (const other of [id, 'x', 'x'.repeat(300)]) {
    const { status, body } = await host.ask('GET', `/${id}/recoveries/${other}`)
    t.match({ status, code: body.code }, { status: 404, code: 'SVC_WEBHOOKS_RECOVERY_NOT_FOUND' })
  }
})
