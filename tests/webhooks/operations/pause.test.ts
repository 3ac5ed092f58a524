import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { until, untilCount } from '../../support/until.ts'

t.test('while a webhook is paused its deliveries wait, and none is lost', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 50 } } })
  const receiver = await openReceiver(t, { answer: 503 })
  const { id } = await register(receiver.url)
  for (let n = 0; n < 10; n++) await app.svc.events.publish('order.created', { n })
  await receiver.waitFor(10)

  await ask('PATCH', `/${id}`, { active: false })
  await app.svc.events.publish('order.created', { n: 'not queued while inactive' })
  const { deliveryId } = await app.svc.actions.call('__svc.webhooks.test', id)
  await until(
    () => asideOf(app, id),
    (rows) => rows.length === 11 && rows.every(Boolean),
  )
  const settled = receiver.received.length
  receiver.answer(200)
  t.equal(await quiet(() => Promise.resolve(receiver.received.length)), settled)

  await ask('PATCH', `/${id}`, { active: true })
  await app.svc.events.publish('order.created', { n: 10 })
  const list = async () => (await ask('GET', `/${id}/deliveries?status=delivered`)).body
  const rows = await until(list, (found) => found.length >= 12)
  const numbers = rows
    .filter((row: { event: string }) => row.event === 'order.created')
    .map((row: { payload: { n: number } }) => row.payload.n)
  t.same(
    numbers.toSorted((a: number, b: number) => a - b),
    [...Array(11).keys()],
  )
  t.ok(rows.some((row: { deliveryId: string }) => row.deliveryId === deliveryId))
})

t.test('on a paused webhook redrive and redeliver are accepted, and wait', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const receiver = await openReceiver(t, { answer: 500 })
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', { n: 1 })
  const [dead] = await untilCount(1, async () => (await ask('GET', `/${id}/dead-letters`)).body)
  await ask('PATCH', `/${id}`, { active: false })
  receiver.answer(200)

  t.match(await ask('POST', `/${id}/redrive`), { status: 202, body: { redriven: 1 } })
  const again = await ask('POST', `/${id}/deliveries/${dead.deliveryId}/redeliver`)
  t.equal(again.status, 202)
  t.equal(await quiet(() => Promise.resolve(receiver.received.length)), 1)

  await ask('PATCH', `/${id}`, { active: true })
  const requests = await receiver.waitFor(3)
  t.same(
    new Set(requests.map(({ headers }) => headers['x-svc-delivery-id'])),
    new Set([dead.deliveryId, again.body.deliveryId]),
  )
})

t.test('a change of url and events holds for the next publish', async (t) => {
  const { app, ask, register } = await startHost(t)
  const first = await openReceiver(t)
  const second = await openReceiver(t)
  const { id } = await register(first.url, ['order.created'])
  await app.svc.events.publish('order.created', {})
  await first.waitFor(1)

  await ask('PATCH', `/${id}`, { url: second.url, events: ['order.shipped'] })
  await app.svc.events.publish('order.created', {})
  await app.svc.events.publish('order.shipped', {})
  const [request] = await second.waitFor(1)
  t.equal(request!.headers['x-svc-event'], 'order.shipped')
  t.equal(await quiet(() => Promise.resolve(first.received.length + second.received.length)), 2)
})

t.test('after a change of the url, failed deliveries are sent to it at once', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 50 } } })
  const broken = await openReceiver(t, { answer: 500 })
  const { id } = await register(broken.url)
  for (let n = 0; n < 30; n++) await app.svc.events.publish('order.created', { n })
  const isOpen = async () => {
    const { rowCount } = await app.svc.database.query(
      `select from svc."__svc.recipient_states" where circuit_open`,
    )
    return rowCount === 1
  }
  await until(isOpen, Boolean)
  const healthy = await openReceiver(t)
  await ask('PATCH', `/${id}`, { url: healthy.url })
  t.equal((await healthy.waitFor(30)).length >= 30, true)
})

t.test('waiting deliveries of a paused webhook are not scanned by fetches', async (t) => {
  const publisher = await startHost(t, { core: { worker: { enabled: false } } })
  const { app, ask, register } = publisher
  const receiver = await openReceiver(t)
  const { id } = await register(receiver.url)
  for (let n = 0; n < 3; n++) await app.svc.events.publish('order.created', { n })
  await ask('PATCH', `/${id}`, { active: false })
  await ask('POST', `/${id}/test`)

  await startHost(t, { database: publisher.database })
  const aside = await until(
    () => asideOf(app, id),
    (rows) => rows.every(Boolean),
  )
  t.same(aside, [true, true, true, true])
  t.equal(receiver.received.length, 0)
  await ask('PATCH', `/${id}`, { active: true })
  t.equal((await receiver.waitFor(4)).length, 4)
})

/** Whether each job of a webhook waits aside. */
async function asideOf({ svc }: FastifyInstance, id: string): Promise<boolean[]> {
  const { rows } = await svc.database.query(
    `select priority = -2 as aside from svc_jobs.job where singleton_key = $1`,
    [id],
  )
  return rows.map((row: { aside: boolean }) => row.aside)
}

/** The value once it has not changed for a while: what should not happen has had the time to. */
async function quiet(ask: () => Promise<number>): Promise<number> {
  let value = await ask()
  for (let still = 0; still < 15; still++) {
    await new Promise((resolve) => {
      setTimeout(resolve, 50)
    })
    const next = await ask()
    if (next !== value) still = 0
    value = next
  }
  return value
}
