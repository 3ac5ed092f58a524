import t, { type Test } from 'tap'
import { brokenWebhook, finished, since } from '../../support/broken-webhook.ts'
import { until } from '../../../support/until.ts'

/** Deliveries whose first attempt has failed, and whose next one is due in an hour. */
async function failedDeliveries(t: Test, count: number) {
  const { host, id, receiver, repair } = await brokenWebhook(t, 5, 3600)
  const { events, webhooks, database } = host.app.svc
  for (let n = 0; n < count; n++) await events.publish('order.created', { n })
  await until(async () => {
    const { rowCount } = await database.query(
      `select from svc_jobs.job where group_id = $1 and state = 'retry'`,
      [id],
    )
    return rowCount === count
  })
  repair()
  return { host, id, webhooks, database, receiver }
}

t.test('of two recoveries of failed deliveries, each delivery is counted by one', async (t) => {
  const { host, id, webhooks } = await failedDeliveries(t, 20)
  const input = { id, what: 'failed', since, perSecond: 10 } as const
  const [one, other] = await Promise.all([webhooks.recover(input), webhooks.recover(input)])
  t.same([one.deliveries, other.deliveries].toSorted(), [0, 20])
  t.match(await webhooks.recover({ ...input, dryRun: true }), { deliveries: 0 })
  const recoveries = await finished(host, id)
  t.same(recoveries.map(({ done }) => done).toSorted(), [0, 20])
})

t.test('a later recovery leaves an earlier one its deliveries, and its pace', async (t) => {
  const { host, id, webhooks } = await failedDeliveries(t, 6)
  const paced = await webhooks.recover({ id, what: 'failed', since, perSecond: 2 })
  const fast = await webhooks.recover({ id, what: 'failed', since })
  t.equal(fast.deliveries, 0)
  const state = async () => {
    const recoveries = await webhooks.listRecoveries(id)
    const of = (recovery: string) => recoveries.find((one) => one.id === recovery)!
    return { paced: of(paced.id!), fast: of(fast.id!) }
  }
  const atItsEnd = await until(state, ({ fast }) => fast.finishedAt !== null)
  t.match(atItsEnd, { fast: { done: 0 }, paced: { finishedAt: null } })
  await finished(host, id)
  t.match(await state(), { paced: { deliveries: 6, done: 6 } })
})
