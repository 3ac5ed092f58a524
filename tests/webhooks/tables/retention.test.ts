import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { startHost } from '../support/host.ts'
import { untilCount } from '../../support/until.ts'

t.test(
  'an event that is delivered once more is kept as long as that shows in the log',
  async (t) => {
    const { app, ask, register } = await startHost(t, { deliveryLogRetentionDays: 20 })
    const { database } = app.svc
    const receiver = await openReceiver(t)
    const { id } = await register(receiver.url)
    await app.svc.events.publish('order.created', { n: 1 })
    const [row] = await untilCount(1, async () => (await ask('GET', `/${id}/deliveries`)).body)
    await database.query(`update svc."__svc.events" set published_at = now() - interval '19 days'`)

    await ask('POST', `/${id}/deliveries/${row.deliveryId}/redeliver`)
    t.ok((await keptFor(database)) > 19.9)
  },
)

t.test(
  'the event of a redriven dead letter is kept as long as its delivery shows in the log',
  async (t) => {
    const { app, ask, register } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
    const receiver = await openReceiver(t, { answer: 500 })
    const { id } = await register(receiver.url)
    await app.svc.events.publish('order.created', { n: 1 })
    await untilCount(1, async () => (await ask('GET', `/${id}/dead-letters`)).body)
    await app.svc.database.query(
      `update svc."__svc.events" set published_at = now() - interval '80 days'`,
    )
    receiver.answer(200)
    await ask('POST', `/${id}/redrive`)
    const rows = await untilCount(2, async () => (await ask('GET', `/${id}/deliveries`)).body)
    t.match(rows[0], { status: 'delivered', payload: { n: 1 } })
    t.ok((await keptFor(app.svc.database)) > 29.9)
  },
)

t.test('the retention of an event of today is not extended', async (t) => {
  const { app, ask, register } = await startHost(t)
  const receiver = await openReceiver(t)
  const { id } = await register(receiver.url)
  await app.svc.events.publish('order.created', { n: 1 })
  await untilCount(1, async () => (await ask('GET', `/${id}/deliveries`)).body)
  t.equal(await keptFor(app.svc.database), null)
})

interface Queryable {
  query(text: string): Promise<{ rows: { days: number | null }[] }>
}

/** How many days from now the event is kept at least; `null` where it says nothing. */
async function keptFor(database: Queryable): Promise<number> {
  const { rows } = await database.query(
    `select (extract(epoch from keep_until - now()) / 86400)::float8 as days from svc."__svc.events"
      where name = 'order.created'`,
  )
  return rows[0]!.days as number
}
