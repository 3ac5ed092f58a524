// promise: `close()` waits for attempts in progress, puts those back that do not end in time, and loses no job
import t from 'tap'
import { openReceiver } from '../support/receiver.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { startHost } from './support/host.ts'
import { until } from '../support/until.ts'

t.test('close() waits for the deliveries under way, and starts no more', async (t) => {
  const database = await freshDatabase(t)
  const host = await startHost(t, { database })
  const { promise: finished, resolve: finish } = Promise.withResolvers<200>()
  const receiver = await openReceiver(t, { answer: () => finished })
  const { id } = await host.register(receiver.url)
  for (let n = 0; n < 3; n++) await host.app.svc.events.publish('order.created', { n })
  await receiver.waitFor(3)

  const closed = host.app.close()
  finish(200)
  await closed

  const later = await startHost(t, { database })
  const { body } = await later.ask('GET', `/${id}/deliveries`)
  t.same(
    body.map(({ status, attempt }: { status: string; attempt: number }) => [status, attempt]),
    [
      ['delivered', 1],
      ['delivered', 1],
      ['delivered', 1],
    ],
  )
  t.equal(receiver.received.length, 3)
})

t.test('events published while no worker ran are delivered by the next one', async (t) => {
  const database = await freshDatabase(t)
  const host = await startHost(t, { database })
  const receiver = await openReceiver(t)
  await host.register(receiver.url)
  await host.app.close()

  const publisher = await startHost(t, { database, core: { worker: { enabled: false } } })
  for (let n = 0; n < 5; n++) await publisher.app.svc.events.publish('order.created', { n })
  await publisher.app.close()
  t.equal(receiver.received.length, 0)

  await startHost(t, { database })
  await receiver.waitFor(5)
})

t.test('close() in the middle of a flood loses nothing and sends nothing twice', async (t) => {
  const database = await freshDatabase(t)
  const host = await startHost(t, { database })
  const receiver = await openReceiver(t)
  const { id } = await host.register(receiver.url)
  const published = Array.from({ length: 300 }, (_, n) =>
    host.app.svc.events.publish('order.created', { n }),
  )
  await receiver.waitFor(50)
  await Promise.all(published)
  await host.app.close()

  const later = await startHost(t, { database })
  const list = async () => (await later.ask('GET', `/${id}/deliveries?limit=1000`)).body
  const rows = await until(list, (found) => found.length >= 300)
  t.equal(rows.length, 300)
  const numbers = receiver.received.map(({ body }) => body.payload.n as number)
  t.same(
    numbers.toSorted((a, b) => a - b),
    [...Array(300).keys()],
  )
})
