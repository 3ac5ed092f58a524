import t from 'tap'
import { openReceiver } from '../../../support/receiver.ts'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'

t.test(
  'with deactivateOnGone a 410 pauses the webhook, and the delivery is a dead letter at once',
  async (t) => {
    const { app, ask, register } = await startHost(t, { deactivateOnGone: true })
    const receiver = await openReceiver(t, { answer: 410 })
    const { id } = await register(receiver.url)
    await app.svc.events.publish('order.created', { n: 1 })

    const { body } = await until(
      () => ask('GET', `/${id}`),
      ({ body }) => body.active === false,
    )
    t.equal(body.active, false)
    const deliveries = await until(
      () => ask('GET', `/${id}/deliveries`),
      ({ body }) => body.length > 0,
    )
    t.match(deliveries.body, [
      { status: 'dead', statusCode: 410, error: 'http', attempt: 1, nextAttemptAt: null },
    ])
    const letters = await until(
      () => ask('GET', `/${id}/dead-letters`),
      ({ body }) => body.length > 0,
    )
    t.match(letters.body, [{ status: 'dead', statusCode: 410, attempt: 1, payload: { n: 1 } }])
    await app.svc.events.publish('order.created', { n: 2 })
    t.equal(receiver.received.length, 1)
  },
)

t.test('a 410 that waits for a transaction of the host holds up no other delivery', async (t) => {
  const { app, register } = await startHost(t, { deactivateOnGone: true })
  const gone = await openReceiver(t, { answer: 410 })
  const healthy = await openReceiver(t)
  const { id } = await register(gone.url)
  await register(healthy.url)
  const { events, transaction, webhooks } = app.svc
  await transaction(async (db) => {
    await webhooks.update({ id, description: 'held' }, { db })
    await events.publish('order.created', { n: 1 })
    await gone.waitFor(1)
    for (let n = 2; n <= 10; n++) {
      await events.publish('order.created', { n })
      await until(
        () => webhooks.listDeliveries({ status: 'delivered' }),
        ({ length }) => length >= n,
      )
    }
    t.match(await webhooks.get(id), { active: true })
  })
  t.match(
    await until(
      () => webhooks.get(id),
      ({ active }) => !active,
    ),
    { disabledReason: 'gone' },
  )
})

t.test('without deactivateOnGone a 410 is a failure like others', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver(t, { answer: [410, 200] })
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', {})
  await receiver.waitFor(2)
  t.equal((await ask('GET', `/${id}`)).body.active, true)
})
