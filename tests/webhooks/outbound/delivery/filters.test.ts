import t from 'tap'
import type { ReceivedRequest } from '@svc/testing'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'

const payloadsOf = (requests: ReceivedRequest[]) =>
  requests.map(({ body }) => body.payload.total as number).toSorted((a, b) => a - b)

t.test('a webhook is sent the events that its filter matches', async (t) => {
  const { app, ask, register } = await startHost(t)
  const all = await openReceiver(t)
  const large = await openReceiver(t)
  await register(all.url, ['order.created'])
  const { body } = await ask('POST', '', {
    url: large.url,
    events: ['*'],
    filter: { event: 'order.created', payload: { total: { $gte: 100 } } },
  })
  const publish = (total: number) => app.svc.events.publish('order.created', { total })

  for (const total of [50, 100, 150]) await publish(total)
  t.strictSame(payloadsOf(await all.waitFor(3)), [50, 100, 150])
  t.strictSame(payloadsOf(await large.waitFor(2)), [100, 150])
  t.equal(
    (
      await app.svc.database.query('select from svc_jobs.job where data @> $1', [
        { recipient: body.id, event: 'order.shipped' },
      ])
    ).rowCount,
    0,
  )

  await ask('PATCH', `/${body.id}`, { filter: { 'payload.total': { $lt: 100 } } })
  await app.svc.transaction(async (db) => {
    await app.svc.events.publish('order.created', { total: 20 }, { db })
    await app.svc.events.publish('order.created', { total: 200 }, { db })
  })
  t.strictSame(payloadsOf(await large.waitFor(3)), [20, 100, 150])

  await ask('PATCH', `/${body.id}`, { filter: null })
  await publish(300)
  t.strictSame(payloadsOf(await large.waitFor(4)), [20, 100, 150, 300])
})

t.test('a webhook keeps its filter when it is paused and resumed', async (t) => {
  const { app, ask } = await startHost(t)
  const receiver = await openReceiver(t)
  const filter = { payload: { total: { $gte: 100 } } }
  const { body } = await ask('POST', '', { url: receiver.url, events: ['order.created'], filter })
  await ask('PATCH', `/${body.id}`, { active: false })
  await ask('PATCH', `/${body.id}`, { active: true })
  await Promise.all([50, 150].map((total) => app.svc.events.publish('order.created', { total })))
  t.strictSame(payloadsOf(await receiver.waitFor(1)), [150])
})

t.test('events that are published at once are each decided, by name and tenant', async (t) => {
  const { app, register } = await startHost(t)
  const receiver = await openReceiver(t)
  const filter = { payload: { total: { $gte: 100 } } }
  const { webhooks, events } = app.svc
  await register(receiver.url, ['order.shipped'])
  await webhooks.register({ url: receiver.url, events: ['order.created'], filter })
  await webhooks.register({
    url: receiver.url,
    events: ['order.created'],
    filter,
    tenant: 'acme',
  })
  const published = [50, 150].flatMap((total) => [
    events.publish('order.created', { total }),
    events.publish('order.created', { total: total + 1 }, { tenant: 'acme' }),
    events.publish('order.created', { total: total + 2 }, { tenant: 'other' }),
    events.publish('order.shipped', { total: total + 3 }),
  ])
  await Promise.all(published)
  t.strictSame(payloadsOf(await receiver.waitFor(6)), [53, 150, 151, 151, 152, 153])
})

t.test('a thousand filters are decided as an event is published', async (t) => {
  const { app } = await startHost(t)
  const { database } = app.svc
  await database.query(
    `insert into svc."__svc.recipients" (subscription, event_name, recipient, filter)
     select subscription, 'order.created', gen_random_uuid(),
            jsonb_build_object('payload', jsonb_build_object('n', n))
       from generate_series(1, 1000) as n,
            (select distinct subscription from svc."__svc.subscriptions" where fans_out) as wants`,
  )
  const recipients = async () => {
    const { rows } = await database.query(
      `select event.payload::jsonb ->> 'n' as n, count(*)::int
         from svc_jobs.job as job
         join svc."__svc.events" as event on event.id = job.data ->> 'eventId'
        group by 1`,
    )
    return rows as unknown[]
  }
  // The recipients are no webhooks: their jobs end as cancelled, unless they are seen first.
  await app.svc.transaction(async (db) => {
    for (const n of [1, 500, 2000]) {
      await app.svc.events.publish('order.created', { n }, { db })
    }
    const { rows } = await db.query(
      `select job.data ->> 'recipient' as recipient from svc_jobs.job as job`,
    )
    t.equal(rows.length, 2)
  })
  await until(recipients, (rows) => rows.length === 0)
})

t.test('webhooks of the operator alone are sent the tenant of an event', async (t) => {
  const { app, ask, register } = await startHost(t)
  const [receiver, ofAcme] = [await openReceiver(t), await openReceiver(t)]
  const { id } = await register(receiver.url, ['order.created'])
  const events = ['order.created']
  await app.svc.webhooks.register({ url: ofAcme.url, events, tenant: 'acme' })
  await app.svc.events.publish('order.created', { total: 1 }, { id: 'x', tenant: 'acme' })
  await app.svc.events.publish('order.created', { total: 2 }, { id: 'x' })
  const requests = await receiver.waitFor(2)
  const tenants = new Map(
    requests.map(({ body, headers }) => [body.payload.total, headers['x-svc-tenant']]),
  )
  t.strictSame(tenants.get(1), 'acme')
  t.strictSame(tenants.get(2), undefined)
  const [request] = await ofAcme.waitFor(1)
  t.equal(request?.body.payload.total, 1)
  t.notOk('x-svc-tenant' in request!.headers)
  const attempts = await until(
    () => ask('GET', `/${id}/deliveries`),
    ({ body }) => body.length === 2,
  )
  t.strictSame(
    attempts.body.map(({ eventId }: { eventId: string }) => eventId),
    ['x', 'x'],
  )
})

t.test('a filter that this version cannot read matches nothing, and is logged', async (t) => {
  const { app, register } = await startHost(t)
  const all = await openReceiver(t)
  const later = await openReceiver(t)
  await register(all.url)
  const { id } = await app.svc.webhooks.register({
    url: later.url,
    events: ['order.created'],
    filter: { payload: { total: 1 } },
  })
  // As a host of a later version writes it.
  const filter = { payload: { place: { $near: [1, 2] } } }
  await app.svc.database.query(
    'update svc."__svc.recipients" set filter = $2 where recipient = $1',
    [id, filter],
  )
  const warned: Record<string, unknown>[] = []
  app.log.warn = (details: object) => void warned.push(details as Record<string, unknown>)
  await app.svc.events.publish('order.created', { total: 1 })
  await app.svc.transaction((db) => app.svc.events.publish('order.created', { total: 2 }, { db }))
  t.strictSame(payloadsOf(await all.waitFor(2)), [1, 2])
  const { rows } = await app.svc.database.query(
    `select data ->> 'recipient' as recipient from svc_jobs.job where data ->> 'recipient' = $1`,
    [id],
  )
  t.same([...rows, ...later.received], [])
  t.same(warned, [{ recipient: id }], 'once, and not for each event')
})

t.test(
  'a dear filter is decided by the delivery, and leaves no trace where it does not match',
  async (t) => {
    const { app, ask } = await startHost(t)
    const receiver = await openReceiver(t)
    const { events, webhooks } = app.svc
    const items = Array.from({ length: 5000 }, (_, n) => ({ sku: `sku-${n}` }))
    const filterFor = (sku: string) => ({
      $or: Array.from({ length: 16 }, (_, n) => ({
        'payload.items.sku': { $contains: `${sku}_${n}` },
      })),
    })
    const since = new Date().toISOString()
    const register = (path: string, filter: Record<string, unknown>, ordered = false) =>
      webhooks.register({ url: receiver.url + path, events: ['order.created'], filter, ordered })
    const missed = await Promise.all(
      Array.from({ length: 15 }, (_, n) => register('missed', filterFor(`zz${n}`))),
    )
    const hit = await register('hit', filterFor('of-acme'))
    const ordered = await register('ordered', filterFor('of-acme'), true)
    const publish = (total: number, sku: string) =>
      events.publish('order.created', { total, items: [...items, { sku: `${sku}_7` }] })
    for (const total of [1, 2, 3, 4]) await publish(total, total % 2 === 0 ? 'of-acme' : 'other')

    const requests = await receiver.waitFor(4)
    const totalsAt = (path: string) =>
      requests.filter(({ url }) => url.endsWith(path)).map(({ body }) => body.payload.total)
    t.same(totalsAt('hit').toSorted(), [2, 4])
    t.same(totalsAt('ordered'), [2, 4])
    t.same(totalsAt('missed'), [])
    const shown = async (id: string) => (await ask('GET', `/${id}`)).body
    for (const { id } of [...missed, hit, ordered]) {
      const webhook = await until(
        () => shown(id),
        ({ waiting, filterCost }) => waiting === 0 && filterCost !== null,
      )
      t.ok(webhook.filterCost > 20_000)
    }
    for (const { id } of missed) {
      t.same((await ask('GET', `/${id}/deliveries`)).body, [])
      const recovery = { since, what: 'missing', dryRun: true }
      t.match((await ask('POST', `/${id}/recover`, recovery)).body, { deliveries: 0 })
    }
    const { body: changed } = await ask('PATCH', `/${hit.id}`, { filter: { 'payload.total': 5 } })
    t.equal(changed.filterCost, null)
  },
)

t.test('a filter that is decided late is the one of the publish', async (t) => {
  const { app } = await startHost(t)
  const receiver = await openReceiver(t)
  const items = Array.from({ length: 10_000 }, (_, n) => ({ sku: `sku-${n}` }))
  const filter = {
    $or: Array.from({ length: 16 }, (_, n) => ({
      'payload.items.sku': { $endsWith: `-999${n % 10}` },
    })),
    'payload.total': { $lt: 3 },
  }
  const { id } = await app.svc.webhooks.register({
    url: receiver.url,
    events: ['order.created'],
    filter,
  })
  const publish = (total: number) => app.svc.events.publish('order.created', { total, items })
  await app.svc.transaction(async (db) => {
    await app.svc.events.publish('order.created', { total: 1, items }, { db })
    await app.svc.events.publish('order.created', { total: 3, items }, { db })
    await app.svc.webhooks.update({ id, filter: { 'payload.total': 9 } }, { db })
  })
  await publish(2)
  await publish(9)
  t.same(payloadsOf(await receiver.waitFor(2)), [1, 9])
})
