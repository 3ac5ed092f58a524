// promise: While all, a tenant or a handler is paused, no attempt begins in any process, and nothing is lost or used up; the order stays
/** Stop and go: everything, one tenant, one subscription, in every process. */
import { setTimeout as wait } from 'node:timers/promises'
import { openReceiver } from '../../support/receiver.ts'
import t, { type Test } from 'tap'
import { until, untilCount } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

/** In every process within a second, and what would begin then shows soon. */
const QUIET_MS = 1500

const twoHosts = async (t: Test) => {
  const one = await startHost(t)
  const two = await startHost(t, { database: one.database })
  const receiver = await openReceiver(t)
  return { one, two, receiver }
}
const numbersOf = (requests: readonly { body: unknown }[]): number[] =>
  requests.map(({ body }) => (body as { payload: { n: number } }).payload.n)

t.test(
  'a general pause stops every kind of attempt in all processes, and nothing is lost',
  async (t) => {
    const { one, two, receiver } = await twoHosts(t)
    const { webhooks, events } = one.app.svc
    const ordered = await webhooks.register({ url: receiver.url, events: '*', ordered: true })
    await events.publish('order.created', { n: 0 })
    await receiver.waitFor(1)
    receiver.answer(500)
    await events.publish('order.created', { n: 1 })
    await receiver.waitFor(2)
    t.match(await two.ask('POST', '/pause-all', { reason: 'wrong amounts' }), {
      status: 200,
      body: { paused: true },
    })
    receiver.answer(200)
    await wait(1000)
    const before = receiver.received.length
    for (let n = 2; n < 12; n++) {
      await (n % 2 ? one : two).app.svc.events.publish('order.created', { n })
    }
    await webhooks.test(ordered.id)
    const row = {
      webhookId: ordered.id,
      event: 'order.created',
      payload: 1,
      deliveryId: ordered.id,
      attempt: 1,
    }
    await t.rejects(webhooks.deliver(row), { code: 'SVC_WEBHOOKS_PAUSED', statusCode: 409 })
    await wait(QUIET_MS)
    t.equal(receiver.received.length, before, 'no attempt begins')
    t.equal((await webhooks.get(ordered.id)).waiting, 12)
    for (const { app } of [one, two]) {
      t.match((await app.svc.health()).paused, [
        { scope: 'all', reason: 'wrong amounts', since: /^\d{4}-.*Z$/ },
      ])
    }
    const three = await startHost(t, { database: one.database })
    await three.app.svc.events.publish('order.created', { n: 12 })
    await wait(QUIET_MS)
    t.equal(receiver.received.length, before, 'a host that boots knows it')
    t.match(await one.ask('POST', '/resume-all', {}), { status: 200, body: { paused: false } })
    await receiver.waitFor(before + 13)
    const numbers = numbersOf(receiver.received.slice(before)).filter((n) => n !== undefined)
    t.same(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 'in their order')
    const attempts = await untilCount(receiver.received.length, () =>
      webhooks.listDeliveries(ordered.id),
    )
    t.same(
      attempts
        .filter(({ status }) => status === 'failed')
        .map(({ attempt }) => attempt)
        .toSorted(),
      Array.from({ length: before - 1 }, (_, n) => n + 1),
      'no attempt was used up',
    )
    t.same((await one.app.svc.health()).paused, [])
    const audited = await one.app.svc.audit.list({ target: 'tenant' })
    t.match(
      audited.map(({ action, changes }) => [action, changes]),
      [
        ['webhook.resume-all', { paused: { from: true, to: false } }],
        ['webhook.pause-all', { paused: { to: true }, reason: { to: 'wrong amounts' } }],
      ],
    )
  },
)

t.test('a pause of a tenant holds for its webhooks, old and new, and for no other', async (t) => {
  const { one, two, receiver } = await twoHosts(t)
  const { webhooks, events } = one.app.svc
  const register = (tenant: string | null) =>
    webhooks.register({ url: receiver.url, events: '*', tenant })
  const acme = await register('acme')
  const globex = await register('globex')
  await two.app.svc.webhooks.pauseAll({ tenant: 'acme' })
  const late = await register('acme')
  const inactive = await register('acme')
  await webhooks.update({ id: inactive.id, active: false })
  for (const tenant of ['acme', 'globex']) {
    await events.publish('order.created', { n: 1 }, { tenant })
    await two.app.svc.events.publish('order.created', { n: 2 }, { tenant })
  }
  await receiver.waitFor(2)
  await webhooks.update({ id: acme.id, active: false })
  await webhooks.update({ id: acme.id, active: true })
  await webhooks.test(acme.id)
  await wait(QUIET_MS)
  t.equal(receiver.received.length, 2)
  t.equal((await webhooks.get(globex.id)).waiting, 0)
  t.equal((await webhooks.get(acme.id)).waiting, 3)
  t.equal((await webhooks.get(late.id)).waiting, 2)
  t.match((await two.app.svc.health()).paused, [{ scope: 'tenant', tenant: 'acme', reason: null }])
  await webhooks.pauseAll()
  await webhooks.resumeAll()
  t.equal((await one.app.svc.health()).paused.length, 1, 'the pause of the tenant is left')
  await wait(QUIET_MS)
  t.equal(receiver.received.length, 2)
  await webhooks.resumeAll({ tenant: 'acme' })
  await receiver.waitFor(7)
  await events.publish('order.created', { n: 3 }, { tenant: 'acme' })
  await receiver.waitFor(9)
  t.equal((await webhooks.get(inactive.id)).waiting, 0)
})

t.test('a handler is stopped in all processes, and goes on where it was', async (t) => {
  const one = await startHost(t)
  const two = await startHost(t, { database: one.database })
  const handled: number[] = []
  for (const { app } of [one, two]) {
    const options = { subscription: 'ship', concurrency: 1 }
    await app.svc.events.subscribe(
      'order.created',
      ({ n }: { n: number }) => handled.push(n),
      options,
    )
  }
  const { events } = one.app.svc
  await events.publish('order.created', { n: 0 })
  await until(() => handled.length === 1)
  t.match(await one.ask('POST', '/handlers/pause', { subscription: 'ship', reason: 'a fault' }), {
    status: 200,
    body: { paused: true },
  })
  await wait(1000)
  for (const n of [1, 2, 3]) await two.app.svc.events.publish('order.created', { n })
  await wait(QUIET_MS)
  t.same(handled, [0])
  t.match((await two.app.svc.health()).paused, [
    { scope: 'subscription', subscription: 'ship', reason: 'a fault' },
  ])
  await events.resume('ship')
  await until(() => handled.length === 4)
  t.same(handled.toSorted(), [0, 1, 2, 3])
  t.match(await one.ask('POST', '/handlers/pause', { subscription: 'none' }), {
    status: 404,
    body: { code: 'SVC_WEBHOOKS_SUBSCRIPTION_NOT_FOUND' },
  })
  await t.rejects(events.pause('none'), { code: 'SVC_CORE_INVALID_SUBSCRIPTION' })
  await t.rejects(events.pause('ship', { why: 'x' } as never), { code: 'SVC_CORE_INVALID_OPTION' })
})

t.test('restricted webhooks of a paused tenant wait, whatever is changed meanwhile', async (t) => {
  const { one, two, receiver } = await twoHosts(t)
  const { webhooks } = one.app.svc
  const register = (restriction: object) =>
    webhooks.register({ url: receiver.url, events: '*', tenant: 'acme', ...restriction })
  const limited = await register({ rateLimit: { limit: 5, perSeconds: 1 } })
  const ordered = await register({ ordered: true })
  const capped = await register({ maxInFlight: 2 })
  const all = [limited, ordered, capped]
  const publish = async (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const { app } = n % 2 ? one : two
      await app.svc.events.publish('order.created', { n }, { tenant: 'acme' })
    }
  }
  await publish(0, 10)
  await two.app.svc.webhooks.pauseAll({ tenant: 'acme' })
  await wait(1000)
  const before = receiver.received.length
  await publish(10, 20)
  await webhooks.update({ id: limited.id, rateLimit: null })
  await webhooks.update({ id: capped.id, maxInFlight: 1 })
  const deleted = await register({})
  await webhooks.delete(deleted.id)
  await wait(QUIET_MS)
  t.equal(receiver.received.length, before)
  await one.app.svc.webhooks.resumeAll({ tenant: 'acme' })
  for (const { id } of all) {
    const attempts = await untilCount(20, () => webhooks.listDeliveries(id))
    t.ok(attempts.every(({ attempt, status }) => attempt === 1 && status === 'delivered'))
  }
  t.equal(receiver.received.length, 60, 'none twice')
  const inOrder = (await webhooks.listDeliveries(ordered.id)).toReversed()
  t.same(
    inOrder.map(({ payload }) => (payload as { n: number }).n),
    Array.from({ length: 20 }, (_, n) => n),
  )
})

t.test('a pause in a transaction holds from its commit on, and not after a rollback', async (t) => {
  const { app } = await startHost(t)
  const { svc } = app
  await svc.events.subscribe('order.created', async () => {})
  const subscription = 'order.created'
  const pauseIn = async (ends: () => void) =>
    svc.transaction(async (db) => {
      await svc.webhooks.pauseAll({}, { db })
      await svc.webhooks.pauseHandler({ subscription }, { db })
      t.same((await svc.health()).paused, [])
      ends()
    })
  await t.rejects(
    pauseIn(() => {
      throw new Error('no')
    }),
    { message: 'no' },
  )
  t.same((await svc.health()).paused, [])
  await pauseIn(() => {})
  const scopes = (await svc.health()).paused.map(({ scope }) => scope)
  t.same(scopes.toSorted(), ['all', 'subscription'])
  await svc.transaction(async (db) => {
    await svc.webhooks.resumeAll({}, { db })
    await svc.webhooks.resumeHandler({ subscription }, { db })
  })
  t.same((await svc.health()).paused, [])
  // @ts-expect-error -- what only reads takes no transaction
  await t.rejects(svc.webhooks.list({}, { db: svc.database }), { code: 'SVC_CORE_INVALID_OPTION' })
})
