import t from 'tap'
import { sessionOn } from '../../../support/session.ts'
import { openReceiver } from '../../../support/receiver.ts'
import { untilCount } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

t.test('a transaction that holds the row of an old event delays no other deliveries', async (t) => {
  const host = await startHost(t, { core: { worker: { maxAttempts: 5, retryDelaySeconds: 1 } } })
  const { database, events, webhooks } = host.app.svc
  const failing = await openReceiver(t, { answer: 500 })
  const healthy = await openReceiver(t)
  const redelivered = await openReceiver(t)
  await host.register(failing.url, ['order.created'])
  const { id: healthyId } = await host.register(healthy.url, ['order.shipped'])
  const { id: webhookId } = await host.register(redelivered.url, ['order.created'])
  await events.publish('order.created', {})
  const [delivered] = await untilCount(1, () =>
    webhooks.listDeliveries({ webhookId, status: 'delivered' }),
  )
  await database.query(
    `update svc_jobs.job set created_on = created_on - interval '2 days' where group_id is not null`,
  )
  await database.query(
    `update svc."__svc.events"
        set published_at = published_at - interval '3 days', keep_until = null`,
  )
  const client = await sessionOn(t, host.database)
  await client.query('begin')
  const { deliveryId } = delivered!
  await webhooks.redeliver({ webhookId, deliveryId }, { db: client })
  // This failure has the event kept for its row in the log, and waits for the transaction.
  await failing.waitFor(failing.received.length + 1)

  for (let n = 1; n <= 20; n++) {
    await events.publish('order.shipped', { n })
    await healthy.waitFor(n)
  }
  await untilCount(20, () => webhooks.listDeliveries({ webhookId: healthyId, status: 'delivered' }))
  const { rows } = await client.query(
    'select extract(epoch from clock_timestamp() - now())::float8 as seconds',
  )
  t.ok(rows[0].seconds < 14, 'before the statement of that failure could have timed out')
  await client.query('rollback')
})
