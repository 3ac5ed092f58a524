import { advance, drain } from '@svc/testing'
import { openReceiver } from '../../support/receiver.ts'
import t from 'tap'
import { startHost } from '../support/host.ts'
import { numbersOf, upTo } from './support/numbers-of.ts'
import { registerWith } from './support/register-with.ts'

t.test(
  'drain does not wait for what a rate holds back, and advance lets its span pass',
  async (t) => {
    const host = await startHost(t)
    const receiver = await openReceiver(t)
    await registerWith(host, receiver.url, { rateLimit: { limit: 2, perSeconds: 3600 } })
    for (const n of upTo(3)) await host.app.svc.events.publish('order.created', { n })
    await drain(host.app)
    t.equal(receiver.received.length, 2)
    await advance(host.app, 3610)
    await drain(host.app)
    t.equal(receiver.received.length, 3)
  },
)

t.test('drain does not wait for what an older delivery holds back', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t, { answer: [500, 200] })
  const retry = { delaysSeconds: [600] }
  await registerWith(host, receiver.url, { ordered: true, retry })
  for (const n of upTo(3)) await host.app.svc.events.publish('order.created', { n })
  await drain(host.app)
  t.same(numbersOf(receiver.received), [0])
  await advance(host.app, 700)
  await drain(host.app)
  t.same(numbersOf(receiver.received), [0, 0, 1, 2])
})
