/** Publishes with an id of their own wait for a transaction that holds the id; others do not. */
import t from 'tap'
import { startHost } from '../support/host.ts'

t.test('a publish waits for nobody who has taken the id of another', async (t) => {
  const { app } = await startHost(t)
  const { events, transaction } = app.svc
  const { same, others } = await transaction(async (db) => {
    await events.publish('order.created', 1, { id: 'o-1', db })
    const same = events.publish('order.created', 1, { id: 'o-1' })
    const others = await Promise.all([1, 2, 3].map((n) => events.publish('order.created', n)))
    return { same, others }
  })
  t.ok(others.every(({ duplicate }) => !duplicate))
  t.match(await same, { id: 'o-1', duplicate: true })
})
