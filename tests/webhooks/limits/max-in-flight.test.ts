import t from 'tap'
import { startHost } from '../support/host.ts'
import { until, untilCount } from '../../support/until.ts'
import { startHoldingReceiver } from './support/holding-receiver.ts'
import { numbersOf, upTo } from './support/numbers-of.ts'
import { registerWith } from './support/register-with.ts'

t.test('no more attempts run at a time than maxInFlight, over all processes', async (t) => {
  // Each request is held while others are answered.
  const patient = { deliveryTimeoutMs: 60_000 }
  const host = await startHost(t, patient)
  const other = await startHost(t, { ...patient, database: host.database })
  const receiver = await startHoldingReceiver(t)
  await registerWith(host, receiver.url, { maxInFlight: 3 })
  await Promise.all(
    upTo(12).map((n) => (n % 2 ? host : other).app.svc.events.publish('order.created', { n })),
  )
  for (const done of upTo(12)) {
    await until(() => receiver.held.length === Math.min(3, 12 - done))
    receiver.answerOne()
  }
  t.equal(receiver.received.length, 12)
  t.equal(receiver.most(), 3)
})

t.test('redeliveries and tests wait for their turn as well', async (t) => {
  const { ask, app, ...host } = await startHost(t)
  const receiver = await startHoldingReceiver(t)
  const { id } = await registerWith({ ask, app, ...host }, receiver.url, { maxInFlight: 1 })
  await app.svc.events.publish('order.created', { n: 1 })
  const [first] = await receiver.waitFor(1)
  receiver.answerOne()
  const deliveryId = first!.headers['x-svc-delivery-id'] as string
  await untilCount(1, async () => (await ask('GET', `/${id}/deliveries`)).body)
  t.equal((await ask('POST', `/${id}/deliveries/${deliveryId}/redeliver`)).status, 202)
  t.equal((await ask('POST', `/${id}/test`)).status, 202)
  await app.svc.events.publish('order.created', { n: 2 })
  for (const count of [2, 3, 4]) {
    await receiver.waitFor(count)
    t.equal(receiver.held.length, 1)
    receiver.answerOne()
  }
  t.equal(receiver.most(), 1)
  t.same(new Set(numbersOf(receiver.received)), new Set([1, 2, undefined]))
})
