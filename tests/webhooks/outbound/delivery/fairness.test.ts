// promise: A webhook whose receiver is slow, down or flooded delays other webhooks by no more than the stated bound
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { receiver as openReceiver } from '@svc/testing'
import { startHost } from '../../support/host.ts'
import { untilCount } from '../../../support/until.ts'

for (const count of [1, 3]) {
  t.test(`${count} endpoints that hang do not delay deliveries to the others`, async (t) => {
    const host = await startHost(t, {
      deliveryTimeoutMs: 600_000,
      core: { worker: { concurrency: 64 } },
    })
    const { promise: released, resolve: release } = Promise.withResolvers<200>()
    const hanging = await openReceiver({ answer: () => released })
    t.teardown(() => hanging.close())
    const healthy = await openReceiver()
    t.teardown(() => healthy.close())
    for (let n = 0; n < count; n++) await host.register(`${hanging.url}${n}`)
    const { id } = await host.register(healthy.url)
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => host.app.svc.events.publish('order.created', { n })),
    )

    await healthy.waitFor(300)
    const log = async (status: string) =>
      (await host.ask('GET', `/${id}/deliveries?limit=1000&status=${status}`)).body
    t.equal((await untilCount(300, () => log('delivered'))).length, 300)
    t.ok(hanging.received.length > 0, 'while the others still hang')

    release(200)
    await hanging.waitFor(300 * count)
  })
}

t.test('an endpoint that always fails does not delay deliveries to the others', async (t) => {
  const host = await startHost(t, { core: { worker: { concurrency: 16, maxAttempts: 50 } } })
  const failing = await openReceiver({ answer: 500 })
  t.teardown(() => failing.close())
  const healthy = await openReceiver()
  t.teardown(() => healthy.close())
  await host.register(failing.url, ['order.created'])
  await host.register(healthy.url, ['order.shipped'])
  for (let n = 0; n < 500; n++) await host.app.svc.events.publish('order.created', { n })
  await failing.waitFor(100)

  for (let n = 0; n < 50; n++) {
    await host.app.svc.events.publish('order.shipped', { n })
    await healthy.waitFor(n + 1)
  }
  t.equal(healthy.received.length, 50)
})

const BACKLOG = 4000

for (const concurrency of [32, 64, 256]) {
  t.test(`at ${concurrency}, nobody waits for the backlog of a quick endpoint`, async (t) => {
    const { app, database, register } = await startHost(t, {
      core: { worker: { enabled: false } },
    })
    const quick = await openReceiver()
    const other = await openReceiver()
    for (const one of [quick, other]) t.teardown(() => one.close())
    await register(quick.url, ['order.created'])
    await register(other.url, ['order.shipped'])
    await Promise.all(
      Array.from({ length: BACKLOG }, (_, n) => app.svc.events.publish('order.created', { n })),
    )

    await startHost(t, { database, core: { worker: { concurrency } } })
    // It has all the slots by then.
    await quick.waitFor(BACKLOG / 4)
    await app.svc.events.publish('order.shipped', {})
    await other.waitFor(1)
    t.ok(quick.received.length < BACKLOG, `${quick.received.length} of ${BACKLOG} came before it`)
  })
}

t.test('a retry does not wait for the backlogs of webhooks that were resumed', async (t) => {
  const count = 5
  const waiting = 40
  const { ask, register, app } = await startHost(t, { core: { worker: { concurrency: 4 } } })
  const slow = await openReceiver({ answer: () => setTimeout(100, 200 as const) })
  const retried = await openReceiver({ answer: [500, 200] })
  for (const one of [slow, retried]) t.teardown(() => one.close())
  const resumed = await Promise.all(
    Array.from({ length: count }, (_, n) => register(`${slow.url}${n}`, ['order.shipped'])),
  )
  for (const { id } of resumed) await ask('PATCH', `/${id}`, { active: false })
  for (const { id } of resumed) {
    for (let n = 0; n < waiting; n++) await ask('POST', `/${id}/test`)
  }
  await register(retried.url, ['order.created'])
  await Promise.all(resumed.map(({ id }) => ask('PATCH', `/${id}`, { active: true })))
  await slow.waitFor(1)
  await app.svc.events.publish('order.created', {})
  await retried.waitFor(2)
  const came = slow.received.length
  t.ok(came < (count * waiting) / 2, `${came} of ${count * waiting} came before it`)
})
