/** `svc.webhooks.tryFilter` and `listTenants`. */
import t from 'tap'
import { startHost } from '../support/host.ts'

t.test('a filter is tried on recently published events', async (t) => {
  const { app } = await startHost(t)
  const { events, webhooks } = app.svc
  await events.publish('order.created', { total: 5 }, { id: 'small' })
  await events.publish('order.created', { total: 50 }, { id: 'big' })
  await events.publish('order.shipped', { total: 70 }, { id: 'shipped', tenant: 'acme' })
  const filter = { payload: { total: { $gt: 10 } } }
  const tried = async (trial: Parameters<typeof webhooks.tryFilter>[0], by = webhooks) =>
    (await by.tryFilter(trial)).map(({ id, matches }) => [id, matches])
  t.same(await tried({ filter, events: ['*'] }), [
    ['shipped', true],
    ['big', true],
    ['small', false],
  ])
  t.same(await tried({ filter: null, events: ['order.created'] }), [
    ['big', true],
    ['small', true],
  ])
  t.same(await tried({ filter, events: ['*'], tenant: 'acme' }), [['shipped', true]])
  const acme = webhooks.as({ tenant: 'acme' })
  t.same(
    (await acme.tryFilter({ events: ['*'] })).map(({ id }) => id),
    ['shipped'],
  )
  await t.rejects(webhooks.tryFilter({ filter: { $where: '1' }, events: ['*'] }), {
    code: 'SVC_CORE_INVALID_FILTER',
  })
  await t.rejects(webhooks.tryFilter({ events: ['other'] }), {
    code: 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED',
  })
  t.same(await webhooks.listDeliveries(), [])
})

t.test('tenants are listed by name, with their webhooks', async (t) => {
  const { app } = await startHost(t)
  const { webhooks } = app.svc
  for (const tenant of ['b', 'a', 'b', null]) {
    await webhooks.register({ url: 'https://a.example/', events: ['*'], tenant })
  }
  const all = [
    { tenant: 'a', webhooks: 1 },
    { tenant: 'b', webhooks: 2 },
  ]
  t.same(await webhooks.listTenants(), all)
  t.same(await webhooks.listTenants({ limit: 1 }), all.slice(0, 1))
  t.same(await webhooks.listTenants({ after: 'a' }), all.slice(1))
  t.same(await webhooks.as({ tenant: 'b' }).listTenants(), all.slice(1))
})
