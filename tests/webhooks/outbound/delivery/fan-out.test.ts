import t from 'tap'
import { svcCore } from '@svc/core'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'
import { newHost } from '../../../support/new-host.ts'

t.test('a process that has only core publishes to the same webhooks', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t)
  await host.register(receiver.url, ['order.created'])

  const publisher = newHost(t)
  const database = { connectionString: host.database, max: 2 }
  await publisher.register(svcCore, { database, worker: { enabled: false } })
  await publisher.ready()
  await publisher.svc.events.publish('order.created', { n: 1 })
  const [request] = await receiver.waitFor(1)
  t.same(request!.body.payload, { n: 1 })

  const { id } = (await host.ask('GET', '')).body[0]
  await host.ask('DELETE', `/${id}`)
  const second = await openReceiver(t)
  await host.register(second.url)
  await publisher.svc.events.publish('order.created', { n: 2 })
  await second.waitFor(1)
  t.equal(receiver.received.length, 1)
})

t.test('an event that is published twice under one id is delivered once', async (t) => {
  const { app, register } = await startHost(t)
  const receiver = await openReceiver(t)
  await register(receiver.url)
  t.match(await app.svc.events.publish('order.created', { n: 1 }, { id: '42' }), {
    duplicate: false,
  })
  t.match(await app.svc.events.publish('order.created', { n: 2 }, { id: '42' }), {
    duplicate: true,
  })
  t.match(await app.svc.events.publish('order.shipped', { n: 3 }, { id: '42' }), {
    duplicate: false,
  })
  const requests = await receiver.waitFor(2)
  t.same(
    requests.map(({ body }) => body.payload.n as number).toSorted((a, b) => a - b),
    [1, 3],
  )
})

t.test('events that are not allowed are not delivered, also to webhooks with "*"', async (t) => {
  const { app, register } = await startHost(t)
  const receiver = await openReceiver(t)
  await register(receiver.url)
  await app.svc.events.publish('order.lost', {})
  await app.svc.events.publish('order.created', {})
  await receiver.waitFor(1)
  const { rows } = await app.svc.database.query(
    'select count(*)::int from svc_jobs.job where name = $1',
    ['__svc.webhooks.deliver'],
  )
  t.ok(rows[0].count <= 1)
  t.equal(receiver.received[0]!.headers['x-svc-event'], 'order.created')
})

t.test('10 000 webhooks on one event each get it once', async (t) => {
  const many = 10_000
  const { app, register } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await register(receiver.url)
  // Registered as the operation does it, but in two statements.
  await app.svc.database.query(
    `insert into svc."__svc.webhooks.registrations" (id, url, events, secret)
     select gen_random_uuid(), url || n, events, secret
       from svc."__svc.webhooks.registrations", generate_series(2, $2) as n where id = $1`,
    [id, many],
  )
  await app.svc.database.query(
    `insert into svc."__svc.recipients" (subscription, event_name, recipient)
     select '__svc.webhooks', '*', id from svc."__svc.webhooks.registrations"
     on conflict do nothing`,
  )
  await app.svc.events.publish('order.created', { n: 1 })

  // On a busy machine an attempt may time out: its delivery is tried again, under the same id.
  const delivered = await until(
    () =>
      app.svc.database.query(
        `select count(*)::int, count(distinct webhook_id)::int as webhooks
           from svc."__svc.webhooks.delivery_log" where status = 'delivered'`,
      ),
    ({ rows }) => rows[0].count >= many,
    100,
  )
  t.same(delivered.rows[0], { count: many, webhooks: many })
  t.equal(new Set(receiver.received.map(({ url }) => url)).size, many)
  t.equal(new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).size, many)
})
