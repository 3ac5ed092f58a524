/** Rows of the delivery log and of the statistics that Postgres refuses. */
import { openReceiver } from '../../../support/receiver.ts'
import t, { type Test } from 'tap'
import { sessionOn } from '../../../support/session.ts'
import { until } from '../../../support/until.ts'
import { startHost, type Host } from '../../support/host.ts'

const COUNT = 12
const TABLES = ['delivery_log', 'recent_attempts']

/** All rows of a table are refused, or those that a condition names. Returns how to end that. */
async function refuse(t: Test, { database }: Host, table: string, condition = 'true') {
  const client = await sessionOn(t, database)
  await client.query(`create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'the row is refused'; end $$;
    create trigger refuse before insert on svc."__svc.webhooks.${table}"
      for each row when (${condition}) execute function refuse()`)
  return () => client.query(`drop function refuse cascade`)
}

const noJobs = (host: Host) =>
  until(async () => (await host.app.svc.database.query('select from svc_jobs.job')).rowCount === 0)

for (const table of TABLES) {
  t.test(`deliveries are made once where ${table} takes no rows`, async (t) => {
    const host = await startHost(t, { core: { worker: { maxAttempts: 2 } } })
    const receiver = await openReceiver(t)
    await host.register(receiver.url)
    const accept = await refuse(t, host, table)
    const { events, webhooks } = host.app.svc
    await Promise.all(
      Array.from({ length: COUNT }, (_, n) => events.publish('order.created', { n })),
    )
    await receiver.waitFor(COUNT)
    await noJobs(host)
    await accept()
    await events.publish('order.created', { n: COUNT })
    await receiver.waitFor(COUNT + 1)
    await until(async () => (await webhooks.listDeliveries()).length === 1)
    t.equal(receiver.received.length, COUNT + 1)
    t.same(await webhooks.listDeadLetters(), [])
  })
}

t.test(
  'a failing delivery has its attempts where the log takes no rows, and then is dead',
  async (t) => {
    const host = await startHost(t, {
      core: { worker: { maxAttempts: 3, retryDelaySeconds: 0 } },
      allowedEvents: ['order.created'],
    })
    const receiver = await openReceiver(t, { answer: 500 })
    const watcher = await openReceiver(t)
    await host.register(receiver.url, ['order.created'])
    await host.register(watcher.url, ['svc.delivery.dead'])
    await refuse(t, host, 'delivery_log')
    const { events, webhooks } = host.app.svc
    await events.publish('order.created', {})
    await until(async () => (await webhooks.listDeadLetters()).length === 1)
    await watcher.waitFor(1)
    t.equal(receiver.received.length, 3)
    t.match(await webhooks.listDeadLetters(), [{ attempt: 3, statusCode: 500 }])
  },
)

t.test('rows that are refused of one webhook leave those of others alone', async (t) => {
  const host = await startHost(t)
  const receiver = await openReceiver(t)
  const [refused, other] = [await host.register(receiver.url), await host.register(receiver.url)]
  await refuse(t, host, 'delivery_log', `new.webhook_id = '${refused.id}'`)
  const { events, webhooks } = host.app.svc
  await Promise.all(Array.from({ length: 8 }, (_, n) => events.publish('order.created', { n })))
  await receiver.waitFor(16)
  await noJobs(host)
  const rows = await webhooks.listDeliveries()
  t.same(new Set(rows.map(({ webhookId }) => webhookId)), new Set([other.id]))
  t.equal(rows.length, 8)
})
