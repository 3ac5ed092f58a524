// The field `events` of a webhook.
import { openReceiver } from '../../support/receiver.ts'
import t from 'tap'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

t.test('a text in place of the list of events is taken as a list of one', async (t) => {
  const { app, ask } = await startHost(t, { core: { worker: { enabled: false } } })
  const url = 'https://receiver.example/'
  const { webhooks } = app.svc
  const made = await ask('POST', '', { url, events: '*' })
  t.match(made, { status: 201, body: { events: ['*'] } })
  const { id } = made.body
  t.match(await ask('PATCH', `/${id}`, { events: 'order.created' }), {
    status: 200,
    body: { events: ['order.created'] },
  })
  t.same((await ask('GET', `/${id}`)).body.events, ['order.created'])
  t.same((await webhooks.register({ url, events: 'order.shipped' })).events, ['order.shipped'])
  t.same((await webhooks.update({ id, events: '*' })).events, ['*'])
  t.same((await webhooks.tryFilter({ filter: null, events: '*' })).length, 0)

  for (const events of ['order.unknown', '', '**', 'order.created,order.shipped']) {
    t.match(await ask('POST', '', { url, events }), {
      status: 400,
      body: { code: 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED' },
    })
  }
  for (const events of [null, 1, {}, [], [null], 'x'.repeat(201)]) {
    const answer = await ask('POST', '', { url, events })
    t.match(answer, { status: 400, body: { code: 'SVC_INVALID_INPUT' } }, JSON.stringify(events))
  }
  const { message } = (await ask('POST', '', { url, events: 1 })).body
  t.equal(message, 'body/events must be array,string')
})

t.test('a pattern is every event below it at any depth, once, and never one of ours', async (t) => {
  const allowedEvents = ['order.paid', 'order.paid.late', 'order', 'orders.paid', 'invoice.made']
  const { app, ask } = await startHost(t, { allowedEvents })
  const receivers = await Promise.all(
    ['below', 'tenant', 'filtered', 'deep', 'beside'].map(async (name) => {
      const receiver = await openReceiver(t)
      return { name, url: receiver.url, receiver }
    }),
  )
  const of: Record<string, object> = {
    below: { events: 'order.*' },
    tenant: { events: ['order.*'], tenant: 'acme' },
    filtered: { events: ['order.*'], filter: { payload: { n: { $gte: 3 } } } },
    deep: { events: ['order.paid.*', 'later.*'] },
    // Each of these means the same event.
    beside: { events: ['order.paid', 'order.*', 'order.paid.*', 'invoice.made'] },
  }
  const ids = new Map<string, string>()
  for (const { name, url } of receivers) {
    const { status, body } = await ask('POST', '', { url, ...of[name] })
    t.equal(status, 201, name)
    ids.set(name, body.id)
  }
  const { events } = app.svc
  const names = [...allowedEvents, 'order.unlisted', 'later.one']
  for (const [n, name] of names.entries()) {
    await events.publish(name, { n: n + 1 }, { tenant: n === 1 ? 'acme' : null })
  }
  await events.publish('order.paid', { n: 20 })
  await Promise.all(names.map((name) => events.publish(name, { n: 30 })))
  await ask('PATCH', `/${ids.get('filtered')}`, { filter: { payload: { n: { $gte: 50 } } } })
  await events.publish('order.paid.late', { n: 40 })
  await until(async () => {
    const { rows } = await app.svc.database.query(
      `select from svc_jobs.job where state <= 'active' and group_id is not null`,
    )
    return rows.length === 0
  })
  const got = Object.fromEntries(
    receivers.map(({ name, receiver }) => [
      name,
      receiver.received.map(({ body }) => `${body.event} ${body.payload.n}`).toSorted(),
    ]),
  )
  const below = ['order.paid 1', 'order.paid 20', 'order.paid 30', 'order.paid.late 2']
  below.push('order.paid.late 30', 'order.paid.late 40')
  t.same(got, {
    below,
    tenant: ['order.paid.late 2'],
    filtered: ['order.paid 20', 'order.paid 30', 'order.paid.late 30'],
    deep: ['order.paid.late 2', 'order.paid.late 30', 'order.paid.late 40'],
    beside: ['invoice.made 30', 'invoice.made 5', ...below],
  })
})

t.test('a pattern begins a name and ends with a dot, and is not one of ours', async (t) => {
  const { app, ask } = await startHost(t, { core: { worker: { enabled: false } } })
  const url = 'https://receiver.example/'
  const { id } = (await ask('POST', '', { url, events: 'unknown.yet.*' })).body
  const wrong = ['.*', '**', 'order*', 'order.**', 'order.*.paid', '*.paid', '*.*', 'or der.*']
  for (const events of [...wrong, 'svc.*', 'svc.key.*', 'svc.webhook.*']) {
    for (const given of [events, ['order.created', events]]) {
      const refused = { status: 400, body: { code: 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED' } }
      t.match(await ask('POST', '', { url, events: given }), refused, events)
      t.match(await ask('PATCH', `/${id}`, { events: given }), refused, events)
    }
    await t.rejects(app.svc.webhooks.tryFilter({ events }), {
      code: 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED',
    })
  }
})

t.test('an event below a pattern is delivered once a host allows it', async (t) => {
  const { app, database, ask } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = (await ask('POST', '', { url: receiver.url, events: 'order.*' })).body
  await app.svc.events.publish('order.paid', { n: 1 })
  const next = await startHost(t, { database, allowedEvents: ['order.created', 'order.paid'] })
  await next.app.svc.events.publish('order.paid', { n: 2 })
  await until(() => receiver.received.length > 0)
  t.same(
    receiver.received.map(({ body }) => body.payload),
    [{ n: 2 }],
  )
  t.same((await next.ask('GET', `/${id}`)).body.events, ['order.*'])
})

t.test(
  'filters, recoveries and feeds of a webhook take its patterns as its deliveries do',
  async (t) => {
    const { app, ask } = await startHost(t, {
      allowedEvents: ['order.paid', 'order.paid.late', 'orders.paid'],
    })
    const { events, webhooks } = app.svc
    const since = new Date(Date.now() - 60_000).toISOString()
    for (const name of ['order.paid', 'order.paid.late', 'orders.paid']) {
      await events.publish(name, { name })
    }
    const receiver = await openReceiver(t)
    const { id } = (await ask('POST', '', { url: receiver.url, events: ['order.*'] })).body
    const tried = await webhooks.tryFilter({ events: ['order.*'] })
    t.same(tried.map(({ name }) => name).toSorted(), ['order.paid', 'order.paid.late'])
    t.same(await webhooks.tryFilter({ events: ['none.*'] }), [])
    const feed = (await ask('GET', `/${id}/feed?after=start`)).body
    t.same(
      feed.events.map(({ name }: { name: string }) => name),
      ['order.paid', 'order.paid.late'],
    )
    const asked = { what: 'missing', since }
    t.match(await ask('POST', `/${id}/recover`, { ...asked, dryRun: true }), {
      body: { deliveries: 2 },
    })
    t.match(await ask('POST', '/recover', { ...asked, all: true }), {
      body: { deliveries: 2, webhooks: 1 },
    })
    await until(() => receiver.received.length === 2)
  },
)
