import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

t.test('webhooks are listed newest first, in pages that link to the next', async (t) => {
  const { ask, app, register } = await startHost(t)
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.unshift((await register(`https://receiver.example/${n}`)).id)

  const seen: string[] = []
  let path = '?limit=2'
  for (const [size, hasNext] of [
    [2, true],
    [2, true],
    [1, false],
  ] as const) {
    const { status, body, headers } = await ask('GET', path)
    t.equal(status, 200)
    t.equal(body.length, size)
    t.equal('link' in headers, hasNext)
    seen.push(...body.map(({ id }: { id: string }) => id))
    const [, next = ''] = /^<\/_webhooks(\?.+)>; rel="next"$/.exec(String(headers['link'])) ?? []
    path = next
  }
  t.same(seen, ids)
  t.same(
    (await ask('GET', `?after=${ids[3]}`)).body.map(({ id }: { id: string }) => id),
    [ids[4]],
  )
  t.same(
    (await app.svc.actions.call('__svc.webhooks.list')).map(({ id }) => id),
    ids,
  )
})

const URN = 'urn:uuid:0190a1b2-0000-7000-8000-000000000000'

t.test('a page limit other than 1 to 1000, or a wrong cursor, is a 400', async (t) => {
  const { ask, register } = await startHost(t)
  const { id } = await register('https://receiver.example/')
  // What else is refused is in tests/core/http/pagination.test.ts.
  for (const query of ['limit=1001', `after=${URN}`]) {
    for (const path of ['', `/${id}/deliveries`, `/${id}/dead-letters`]) {
      t.equal((await ask('GET', `${path}?${query}`)).status, 400, `${path}?${query}`)
    }
  }
  for (const query of ['status=lost', 'event=a%00b', 'deliveryId=x', `deliveryId=${URN}`]) {
    t.equal((await ask('GET', `/${id}/deliveries?${query}`)).status, 400, query)
  }
  t.match((await ask('GET', `/${id}/deliveries?status=lost`)).body, {
    message:
      'querystring/status must be equal to one of the allowed values: "delivered", "failed", "dead", "skipped"',
  })
  t.match((await ask('GET', `/${id}/deliveries?after=${URN}`)).body, {
    message: 'querystring/after must match format "uuid"',
  })
})

t.test('the delivery log is listed newest first, by status, event and delivery', async (t) => {
  const { ask, app, register } = await startHost(t, { core: { worker: { maxAttempts: 2 } } })
  const receiver = await openReceiver(t, {
    answer: ({ headers }) => (headers['x-svc-event'] === 'order.shipped' ? 500 : 200),
  })
  const { id } = await register(receiver.url)
  const other = await register(receiver.url, ['order.created'])
  for (let n = 0; n < 3; n++) await app.svc.events.publish('order.created', { n })
  await app.svc.events.publish('order.shipped', {})
  const list = async (query = '') => (await ask('GET', `/${id}/deliveries${query}`)).body
  const all = await until(list, (rows) => rows.length === 5)

  const ids = all.map((row: { id: string }) => row.id)
  t.same(ids, ids.toSorted().toReversed())
  t.same(new Set(all.map((row: { webhookId: string }) => row.webhookId)), new Set([id]))
  t.equal((await list('?status=delivered')).length, 3)
  t.equal((await list('?event=order.created')).length, 3)
  t.equal((await list('?event=order.lost')).length, 0)
  const [dead] = await list('?status=dead')
  t.match(dead, {
    event: 'order.shipped',
    attempt: 2,
    statusCode: 500,
    error: 'http',
    nextAttemptAt: null,
  })
  const [failed] = await list('?status=failed')
  t.match(failed, { event: 'order.shipped', attempt: 1, deliveryId: dead.deliveryId })
  t.ok(failed.nextAttemptAt > failed.attemptedAt)
  t.same(await list(`?deliveryId=${dead.deliveryId}`), [dead, failed])
  t.same(await list(`?deliveryId=${dead.deliveryId}&status=dead&event=order.shipped`), [dead])

  const paged = await ask('GET', `/${id}/deliveries?limit=2&status=delivered`)
  t.match(paged.headers['link'], `/_webhooks/${id}/deliveries?limit=2&status=delivered&after=`)
  t.same(await list(`?after=${all[1].id}`), all.slice(2))

  const action = await app.svc.actions.call('__svc.webhooks.listDeliveries', id)
  t.same(action, all)
  const filter = { webhookId: other.id, limit: 1, status: 'delivered' } as const
  const ofOther = await until(
    () => app.svc.actions.call('__svc.webhooks.listDeliveries', filter),
    (rows) => rows.length > 0,
  )
  t.equal(ofOther.length, 1)
})

t.test('webhooks are listed and counted by their state', async (t) => {
  const { app, ask, register } = await startHost(t)
  const { webhooks, database } = app.svc
  const ids = []
  for (let n = 0; n < 4; n++) ids.push((await register('https://receiver.example/')).id)
  const [active, failing, paused, disabled] = ids
  await webhooks.update({ id: paused as string, active: false })
  await database.query(
    `update svc."__svc.webhooks.registrations"
        set failing_since = now(), active = id = $1,
            disabled_at = case when id = $2 then now() end,
            disabled_reason = case when id = $2 then 'failing' end
      where id in ($1, $2)`,
    [failing, disabled],
  )
  for (const [state, id] of Object.entries({ active, failing, paused, disabled })) {
    const { body } = await ask('GET', `?state=${state}`)
    t.same(
      body.map((one: { id: string }) => one.id),
      [id],
      state,
    )
    t.same(await webhooks.count({ state: state as 'active' }), { count: 1 })
  }
  t.same(await webhooks.count(), { count: 4 })
  t.same(await webhooks.as({ tenant: 'acme' }).count(), { count: 0 })
  t.match(await ask('GET', '?state=other'), { status: 400 })
})
