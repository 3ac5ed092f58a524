import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'
import { began } from './support/began.ts'
import { mostWithin } from './support/most-within.ts'
import { numbersOf, upTo } from './support/numbers-of.ts'
import { registerWith } from './support/register-with.ts'

/** A second less what two clocks may differ. Without the limit all would begin within it. */
const NEARLY_A_SECOND_MS = 950

t.test(
  'no span has more attempts than the limit, over all processes, and none is lost',
  async (t) => {
    const host = await startHost(t)
    const other = await startHost(t, { database: host.database })
    const receiver = await openReceiver(t)
    const rateLimit = { limit: 5, perSeconds: 1 }
    const { id } = await registerWith(host, receiver.url, { rateLimit })
    await Promise.all(
      upTo(14).map((n) => (n % 2 ? host : other).app.svc.events.publish('order.created', { n })),
    )
    const requests = await receiver.waitFor(14)
    t.ok(mostWithin(await began(host, id, 14), NEARLY_A_SECOND_MS) <= 5)
    t.equal(requests.length, 14)
    t.same(new Set(numbersOf(requests)), new Set(upTo(14)))
    t.ok(requests.every(({ headers }) => headers['x-svc-attempt'] === '1'))
  },
)

t.test('retries count as well, and a delivery that waits keeps its attempts', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t, {
    answer: ({ headers }) => (headers['x-svc-attempt'] === '3' ? 200 : 500),
  })
  const { id } = await registerWith(host, receiver.url, {
    rateLimit: { limit: 3, perSeconds: 1 },
    retry: { maxAttempts: 3, delaysSeconds: [0] },
  })
  for (const n of upTo(3)) await host.app.svc.events.publish('order.created', { n })
  t.ok(mostWithin(await began(host, id, 9), NEARLY_A_SECOND_MS) <= 3)
  t.equal(receiver.received.length, 9)
  const delivered = async () => (await host.ask('GET', `/${id}/deliveries?status=delivered`)).body
  await until(delivered, (rows) => rows.length === 3)
})

t.test('a slow receiver is sent no more than the limit either', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t, { answer: { delayMs: 2500 } })
  const rateLimit = { limit: 2, perSeconds: 1 }
  const { id } = await registerWith(host, receiver.url, { rateLimit })
  for (const n of upTo(6)) await host.app.svc.events.publish('order.created', { n })
  t.ok(mostWithin(await began(host, id, 6), NEARLY_A_SECOND_MS) <= 2)
  t.equal(receiver.received.length, 6)
})
