import type { ServerResponse } from 'node:http'
import t from 'tap'
import { startHost } from '../../support/host.ts'
import { until } from '../../../support/until.ts'
import { startReceiver } from '../../support/receiver.ts'

for (const count of [1, 3]) {
  t.test(`${count} endpoints that hang do not delay deliveries to the others`, async (t) => {
    const host = await startHost(t, {
      deliveryTimeoutMs: 600_000,
      core: { worker: { concurrency: 64 } },
    })
    const held: ServerResponse[] = []
    let released = false
    const hanging = await startReceiver(t, (_request, reply) => {
      if (released) return 200
      held.push(reply)
    })
    const healthy = await startReceiver(t)
    for (let n = 0; n < count; n++) await host.register(`${hanging.url}/${n}`)
    const { id } = await host.register(healthy.url)
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => host.app.svc.events.publish('order.created', { n })),
    )

    await healthy.got(300)
    const log = async (status: string) =>
      (await host.ask('GET', `/${id}/deliveries?limit=1000&status=${status}`)).body
    t.equal(
      (
        await until(
          () => log('delivered'),
          (rows) => rows.length === 300,
        )
      ).length,
      300,
    )
    t.ok(held.length > 0, 'while the others still hang')

    released = true
    for (const reply of held) reply.writeHead(200).end()
    await hanging.got(300 * count)
  })
}

t.test('an endpoint that always fails does not delay deliveries to the others', async (t) => {
  const host = await startHost(t, { core: { worker: { concurrency: 16, maxAttempts: 50 } } })
  const failing = await startReceiver(t, () => 500)
  const healthy = await startReceiver(t)
  await host.register(failing.url, ['order.created'])
  await host.register(healthy.url, ['order.shipped'])
  for (let n = 0; n < 500; n++) await host.app.svc.events.publish('order.created', { n })
  await failing.got(100)

  for (let n = 0; n < 50; n++) {
    await host.app.svc.events.publish('order.shipped', { n })
    await healthy.got(n + 1)
  }
  t.equal(healthy.requests.length, 50)
})
