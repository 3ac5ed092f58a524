/** Attempts of which no request was sent use up none of the delivery. */
import { openReceiver } from '../../../support/receiver.ts'
import t from 'tap'
import { until, untilCount } from '../../../support/until.ts'
import { startHost } from '../../support/host.ts'

t.test('a transform that no host has postpones deliveries for a week, and no longer', async (t) => {
  const receiver = await openReceiver(t)
  const transforms = { renamed: () => ({ body: 'text' }) }
  const { database, register, ask } = await startHost(t, {
    core: { worker: { enabled: false } },
    transforms,
  })
  const { id } = await register(receiver.url)
  t.equal((await ask('PATCH', `/${id}`, { transform: 'renamed' })).status, 200)
  const { app } = await startHost(t, { database, core: { worker: { maxAttempts: 1 } } })
  await app.svc.events.publish('order.created', {})
  const db = app.svc.database
  const [job] = await until(
    async () => (await db.query(`select data, retry_count from svc_jobs.job`)).rows,
    ([job]) => job?.data.unsentSince !== undefined,
  )
  t.equal(job.retry_count, 0)
  t.same(await app.svc.webhooks.listDeadLetters(), [])
  await db.query(
    `update svc_jobs.job set start_after = now(),
       data = data || jsonb_build_object('unsentSince', now() - interval '8 days')
      where state < 'active'`,
  )
  const letters = await untilCount(1, () => app.svc.webhooks.listDeadLetters())
  t.match(letters, [{ attempt: 1, statusCode: null, error: 'transform' }])
  t.same(receiver.received, [])
})

t.test('a delivery whose claim cannot begin after the commit is given back', async (t) => {
  const receiver = await openReceiver(t)
  const host = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  await host.register(receiver.url)
  const { database, events, webhooks } = host.app.svc
  await database.query(
    `create function refuse() returns trigger language plpgsql as $$
     begin raise exception 'the lease is not renewed'; end $$;
     create trigger refuse before update on svc_jobs.job for each row
       when (old.state = 'active' and new.state = 'active') execute function refuse()`,
  )
  await host.app.svc.transaction((db) => events.publish('order.created', {}, { db }))
  const [request] = await receiver.waitFor(1)
  t.equal(request?.headers['x-svc-attempt'], '1')
  await until(async () => (await database.query('select from svc_jobs.job')).rowCount === 0)
  t.same(await webhooks.listDeadLetters(), [])
})
