// A disabled webhook without a waiting delivery: events make it none, and it is probed all the same.
import { advance, drain } from '@svc/testing'
import t, { type Test } from 'tap'
import { until } from '../../support/until.ts'
import { scene } from './support/scene.ts'

/** A webhook that is disabled, all of whose deliveries are dead. */
async function withDeadLetters(t: Test, options: { ordered?: boolean; transform?: string } = {}) {
  const made = await scene(t, {
    core: { worker: { maxAttempts: 1 } },
    autoDisable: { failingForSeconds: 600, minAttempts: 2, probeEverySeconds: 3600 },
    transforms: { 'refuses-orders': transformOf },
  })
  const { app, id, shown, receiver } = made
  await app.svc.webhooks.update({ id, ordered: options.ordered ?? false })
  for (const n of [1, 2]) {
    await app.svc.events.publish('order.created', { n })
    await drain(app)
    await advance(app, 700)
  }
  await until(shown, ({ active }) => active === false)
  const letters = () => app.svc.webhooks.listDeadLetters(id)
  t.equal((await letters()).length, 2)
  t.equal((await shown()).waiting, 0)
  if (options.transform) await app.svc.webhooks.update({ id, transform: options.transform })
  return { ...made, letters, before: receiver.received.length }
}

const transformOf = ({ event }: { event: string }) => {
  if (event === 'order.created') throw new Error('not this one')
  return { body: { text: event } }
}

for (const ordered of [false, true]) {
  t.test(`it is probed with its newest dead letter, ordered: ${ordered}`, async (t) => {
    const { app, id, shown, heard, receiver, letters, before } = await withDeadLetters(t, {
      ordered,
    })
    const [newest, oldest] = await letters()
    for (const probes of [1, 2, 3]) {
      await advance(app, 3601)
      t.equal(receiver.received.length, before + probes)
    }
    for (const { headers, body } of receiver.received.slice(before)) {
      t.match(headers, { 'x-svc-delivery-id': newest!.deliveryId, 'x-svc-attempt': '2' })
      t.same(body.payload, { n: 2 })
      t.notOk('x-svc-test' in headers)
    }
    t.same(await letters(), [newest, oldest], 'a failure changes nothing')
    t.match(await shown(), { active: false, waiting: 0 })
    const logged = await app.svc.webhooks.listDeliveries({
      webhookId: id,
      deliveryId: newest!.deliveryId,
    })
    t.match(
      logged.slice(0, 3),
      Array(3).fill({ status: 'failed', nextAttemptAt: null, attempt: 2 }),
    )

    await app.svc.events.publish('order.created', { n: 'missed' })
    receiver.answer(200)
    await advance(app, 3601)
    t.match(await shown(), { active: true, disabledReason: null, failingSince: null })
    t.same(await letters(), [oldest], 'a success takes it out of the dead letters')
    const [attempt] = await app.svc.webhooks.listDeliveries({
      webhookId: id,
      deliveryId: newest!.deliveryId,
    })
    t.match(attempt, { status: 'delivered', attempt: 2 })
    await until(() => receiver.received.some(({ raw }) => raw.includes('missed')))
    await until(() => heard.some(({ name }) => name === 'svc.webhook.recovered'))
    t.equal(receiver.received.filter(({ raw }) => raw.includes('"n":2')).length, 5)
  })
}

t.test('without a dead letter it is probed with a test, which is kept nowhere', async (t) => {
  const { app, id, shown, receiver, letters, before } = await withDeadLetters(t)
  await app.svc.database.query(`delete from svc_jobs.job where name like '%.dlq'`)
  const logged = (await app.svc.webhooks.listDeliveries(id)).length
  await advance(app, 3601)
  receiver.answer(200)
  await advance(app, 3601)
  t.match(await shown(), { active: true, waiting: 0 })
  const probes = receiver.received.slice(before)
  t.equal(probes.length, 2)
  for (const { headers, body } of probes) {
    t.match(headers, { 'x-svc-test': 'true', 'x-svc-event': 'webhook.test' })
    t.match(body.payload, { webhookId: id })
  }
  t.equal((await app.svc.webhooks.listDeliveries(id)).length, logged)
  t.same(await letters(), [])
})

t.test('a dead letter that cannot be sent does not keep it disabled', async (t) => {
  const { app, shown, receiver, letters, before } = await withDeadLetters(t, {
    transform: 'refuses-orders',
  })
  receiver.answer(200)
  await advance(app, 3601)
  t.match(await shown(), { active: true })
  t.equal((await letters()).length, 2)
  const [probe] = receiver.received.slice(before)
  t.match(probe, { headers: { 'x-svc-test': 'true' }, body: { text: 'webhook.test' } })
})

t.test('a probe that hangs holds up no close', async (t) => {
  const { app, receiver, before } = await withDeadLetters(t)
  receiver.answer('timeout')
  const advanced = advance(app, 3601)
  await receiver.waitFor(before + 1)
  const startedAt = performance.now()
  await app.close()
  await advanced.catch(() => {})
  t.ok(performance.now() - startedAt < 9000, 'sooner than the attempt would end')
})
