import t from 'tap'
import { useCore } from '@svc/core/internal'
import { HealthWatch } from '../../../packages/webhooks/src/outbound/health/health-watch.ts'
import { startHost } from '../support/host.ts'

t.test('each of many webhooks is warned of before it is disabled', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const core = await useCore(app)
  for (const name of ['svc.webhook.failing', 'svc.webhook.disabled']) {
    await app.svc.events.subscribe(name, () => {})
  }
  const count = 120
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    ids.push((await app.svc.webhooks.register({ url: 'http://127.0.0.1:9/', events: '*' })).id)
  }
  await core.db.query(
    `update svc."__svc.webhooks.registrations"
        set failing_since = now() - interval '1 hour', last_failure_at = now(), failed_attempts = 9`,
  )
  const settings = { failingForSeconds: 60, warnAfterSeconds: 60, minAttempts: 1 }
  const health = new HealthWatch(core, { ...settings, probeEverySeconds: null })
  for (const id of ids) health.failed(id)
  await health.close()
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
