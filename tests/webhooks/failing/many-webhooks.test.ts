import { randomUUID } from 'node:crypto'
import t from 'tap'
import { useCore } from '@svc/core/internal'
import { FailingWebhooks } from '../../../packages/webhooks/src/outbound/health/failing-webhooks.ts'
import { QUEUE } from '../../../packages/webhooks/src/outbound/constants.ts'
import { startHost } from '../support/host.ts'

t.test('each of many webhooks is warned of before it is disabled', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const core = await useCore(app)
  for (const name of ['svc.webhook.failing', 'svc.webhook.disabled']) {
    await app.svc.events.subscribe(name, () => {})
  }
  const count = 120
  for (let n = 0; n < count; n++) {
    await app.svc.webhooks.register({ url: 'http://127.0.0.1:9/', events: ['*'] })
  }
  await core.db.query(
    `update svc."__svc.webhooks.registrations"
        set failing_since = now() - interval '1 hour', last_failure_at = now(), failed_attempts = 9`,
  )
  const settings = { failingForSeconds: 60, warnAfterSeconds: 60, minAttempts: 1 }
  const failing = new FailingWebhooks(core, { ...settings, probeEverySeconds: null }, 1000)
  await failing.check()
  const published = async (name: string) => {
    const { rows } = await core.db.query(
      `select count(distinct payload::json ->> 'webhookId')::int as count
         from svc."__svc.events" where name = $1`,
      [name],
    )
    return rows[0].count
  }
  t.equal(await published('svc.webhook.failing'), count)
  t.equal(await published('svc.webhook.disabled'), count)
  const { rows } = await core.db.query(
    'select from svc."__svc.webhooks.registrations" where active',
  )
  t.equal(rows.length, 0)
})

t.test('a webhook whose deliveries are at the end of a long line has deliveries', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const core = await useCore(app)
  const { id } = await app.svc.webhooks.register({ url: 'http://127.0.0.1:9/', events: ['*'] })
  const other = await app.svc.webhooks.register({ url: 'http://127.0.0.1:9/', events: ['*'] })
  const job = (group: string) => ({ id: randomUUID(), data: { target: group }, group })
  for (let n = 0; n < 21; n++) {
    const jobs = Array.from({ length: 1000 }, () => job(other.id))
    await core.queues.insert(core.db, QUEUE, jobs)
  }
  await core.queues.insert(core.db, QUEUE, [job(id)])
  // A host that was down meanwhile: it has failed for long, by attempts that do not span that time.
  await core.db.query(
    `update svc."__svc.webhooks.registrations"
        set failing_since = now() - interval '1 hour', failed_attempts = 9,
            last_failure_at = now() - interval '1 hour' where id = $1`,
    [id],
  )
  const settings = { failingForSeconds: 60, warnAfterSeconds: 60, minAttempts: 1 }
  const failing = new FailingWebhooks(core, { ...settings, probeEverySeconds: null }, 1000)
  const isActive = async () => (await app.svc.webhooks.get(id)).active
  await failing.check()
  t.equal(await isActive(), true)
  await core.db.query('delete from svc_jobs.job where name = $1', [QUEUE])
  await failing.check()
  t.equal(await isActive(), false, 'no delivery is left')
})
