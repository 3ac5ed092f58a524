import t from 'tap'
import { startHost } from '../support/host.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../../support/until.ts'
import { startHoldingReceiver } from './support/holding-receiver.ts'
import { mostWithin } from './support/most-within.ts'
import { numbersOf, upTo } from './support/numbers-of.ts'
import { registerWith } from './support/register-with.ts'
import { startWorkerChild } from './support/worker-child.ts'

const PUBLISHER = { core: { worker: { enabled: false } } }

t.test('the attempts of a process that was killed make room within seconds', async (t) => {
  const publisher = await startHost(t, PUBLISHER)
  const receiver = await startHoldingReceiver(t)
  const beside = await startReceiver(t)
  await registerWith(publisher, receiver.url, { maxInFlight: 2, events: ['order.created'] })
  await registerWith(publisher, beside.url, { events: ['order.shipped'] })
  const { publish } = publisher.app.svc.events
  const child = await startWorkerChild(t, publisher.database)
  for (const n of upTo(6)) await publish('order.created', { n })
  await receiver.got(2)
  await startHost(t, { database: publisher.database })
  await publish('order.shipped', {})
  await beside.got(1)
  t.equal(receiver.requests.length, 2, 'none while those may run')

  child.kill()
  const answering = setInterval(() => receiver.answerOne(), 50)
  t.teardown(() => clearInterval(answering))
  await receiver.got(8)
  t.equal(receiver.most(), 2)
  t.same(new Set(numbersOf(receiver.requests)), new Set(upTo(6)))
})

t.test('deliveries under way in a killed process come first again', async (t) => {
  const publisher = await startHost(t, PUBLISHER)
  let isKilled = false
  const receiver = await startReceiver(t, (request) => {
    if (isKilled || numbersOf([request])[0] !== 2) return 200
  })
  await registerWith(publisher, receiver.url, { ordered: true })
  const child = await startWorkerChild(t, publisher.database)
  for (const n of upTo(6)) await publisher.app.svc.events.publish('order.created', { n })
  await receiver.got(3)
  await startHost(t, { database: publisher.database })
  isKilled = true
  child.kill()
  t.same(numbersOf(await receiver.got(7)), [0, 1, 2, 2, 3, 4, 5])
  const attempts = receiver.requests.map(({ headers }) => headers['x-svc-attempt'])
  t.same(attempts, ['1', '1', '1', '2', '1', '1', '1'])
})

t.test('no span has more attempts than the limit when a process is killed in it', async (t) => {
  const host = await startHost(t)
  const receiver = await startReceiver(t)
  await registerWith(host, receiver.url, { rateLimit: { limit: 4, perSeconds: 2 } })
  const child = await startWorkerChild(t, host.database)
  for (const n of upTo(14)) await host.app.svc.events.publish('order.created', { n })
  await receiver.got(6)
  child.kill()
  await until(() => new Set(numbersOf(receiver.requests)).size === 14)
  t.ok(mostWithin(receiver.requests, 1500) <= 4)
})
