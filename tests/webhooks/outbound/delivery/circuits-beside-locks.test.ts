/** Circuits of webhooks while a transaction of the host holds the row of one of them. */
import { openReceiver } from '../../../support/receiver.ts'
import t from 'tap'
import { until } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

const COUNT = 12

t.test(
  'an open transaction on one webhook keeps no circuit of others from being written',
  async (t) => {
    const host = await startHost(t, { core: { worker: { maxAttempts: 100 } } })
    const receiver = await openReceiver(t, { answer: 500 })
    const other = await openReceiver(t, { answer: 500 })
    const { id } = await host.register(receiver.url)
    const { id: otherId } = await host.register(other.url)
    const { database, events, transaction, webhooks } = host.app.svc
    const end = Promise.withResolvers<void>()
    const holding = Promise.withResolvers<void>()
    const open = transaction(async (db) => {
      await webhooks.update({ id, maxInFlight: 1 }, { db })
      await webhooks.update({ id, maxInFlight: null }, { db })
      holding.resolve()
      await end.promise
    })
    t.teardown(() => end.resolve())
    await holding.promise
    const isOpen = async (recipient: string): Promise<boolean | undefined> => {
      const { rows } = await database.query(
        `select circuit_open as "isOpen" from svc."__svc.recipient_states" where recipient = $1`,
        [recipient],
      )
      return rows[0]?.isOpen
    }
    for (let n = 0; n < COUNT; n++) await events.publish('order.created', { n })
    await until(() => isOpen(otherId))
    other.answer(200)
    // Its row may be gone by then: it says nothing any more.
    await until(async () => (await isOpen(otherId)) !== true)
    t.not(await isOpen(id), true, 'that of the webhook itself waits')
    end.resolve()
    await open
    await until(() => isOpen(id))
  },
)
