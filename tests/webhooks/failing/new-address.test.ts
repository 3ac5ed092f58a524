// A webhook gets another address while attempts are under way to the one before.
import { advance } from '@svc/testing'
import { openReceiver } from '../../support/receiver.ts'
import { useCore } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { until, untilCount } from '../../support/until.ts'
import { scene } from './support/scene.ts'

/** A receiver that answers only when it is told to. */
async function slowReceiver(t: Test) {
  const { promise, resolve } = Promise.withResolvers<number>()
  const receiver = await openReceiver(t, { answer: () => promise })
  t.teardown(() => resolve(500))
  return { receiver, answer: resolve }
}

const WITHOUT_RETRIES = { worker: { retryDelaySeconds: 3600, maxAttempts: 1000 } }

t.test('failures at the old address do not count against the new one', async (t) => {
  const { app, ask, shown, id, receiver } = await scene(t, {
    core: WITHOUT_RETRIES,
    autoDisable: { failingForSeconds: 3600, minAttempts: 1 },
  })
  const { receiver: slow, answer } = await slowReceiver(t)
  t.equal((await ask('PATCH', `/${id}`, { url: slow.url })).status, 200)
  await app.svc.events.publish('order.created', {})
  await slow.waitFor(1)
  t.equal((await ask('PATCH', `/${id}`, { url: receiver.url })).status, 200)
  answer(500)
  await untilCount(1, async () => (await ask('GET', `/${id}/deliveries`)).body)
  // It writes all results before it goes on.
  await advance(app, 0.001)
  t.match(await shown(), { failingSince: null, lastFailureAt: null })
})

t.test('a probe that reaches the old address does not resume the webhook', async (t) => {
  const { app, ask, shown, id, hasStopped, receiver } = await scene(t, {
    core: WITHOUT_RETRIES,
    autoDisable: { failingForSeconds: 0.5, minAttempts: 1, probeEverySeconds: 600 },
  })
  await app.svc.events.publish('order.created', { n: 1 })
  await until(async () => (await shown()).failingSince !== null)
  await advance(app, 1)
  await app.svc.events.publish('order.created', { n: 2 })
  await until(hasStopped)
  const { receiver: slow, answer } = await slowReceiver(t)
  t.equal((await ask('PATCH', `/${id}`, { url: slow.url })).status, 200)
  const { db } = await useCore(app)
  const due = `update svc."__svc.webhooks.registrations" set probe_after = now() where id = $1`
  await db.query(due, [id])
  await slow.waitFor(1)
  t.equal((await ask('PATCH', `/${id}`, { url: receiver.url })).status, 200)
  answer(200)
  await untilCount(1, async () => (await ask('GET', `/${id}/deliveries?status=delivered`)).body)
  await advance(app, 0.001)
  t.match(await shown(), { active: false, disabledReason: 'failing', lastSuccessAt: null })
})
