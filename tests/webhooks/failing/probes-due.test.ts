import { receiver as openReceiver } from '@svc/core/testing'
import { useCore } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { FailingWebhooks } from '../../../packages/webhooks/src/outbound/health/failing-webhooks.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'

const REGISTRATIONS = `svc."__svc.webhooks.registrations"`
const AN_HOUR = { failingForSeconds: 3600, warnAfterSeconds: 3600, minAttempts: 1 }

/**
 * Webhooks that are disabled as failing: the last one has a delivery that waits. The host that probes
 * starts after that: no other statement holds a lock while it probes.
 */
async function disabledWebhooks(t: Test, empty: number) {
  const publisher = await startHost(t, { core: { worker: { enabled: false } } })
  const { register, ask, database } = publisher
  const receiver = await openReceiver({ answer: 500 })
  t.teardown(() => receiver.close())
  for (let n = 0; n < empty; n++) await register(receiver.url, ['order.shipped'])
  const { id } = await register(receiver.url, ['order.created'])
  t.equal((await ask('PATCH', `/${id}`, { active: false })).status, 200)
  t.equal((await ask('POST', `/${id}/test`)).status, 202)
  const core = await useCore((await startHost(t, { database })).app)
  await core.db.query(
    `update ${REGISTRATIONS} set active = false, disabled_reason = 'failing',
            disabled_at = now() - interval '2 hours'`,
  )
  // The one with the delivery became due last.
  await core.db.query(
    `update ${REGISTRATIONS} set disabled_at = now() - interval '90 minutes' where id = $1`,
    [id],
  )
  const failing = new FailingWebhooks(core, { ...AN_HOUR, probeEverySeconds: 3600 }, 1000)
  return { core, receiver, failing, id }
}

t.test('a webhook without a delivery is due again after the time between probes', async (t) => {
  const { core, failing, id } = await disabledWebhooks(t, 3)
  await failing.check()
  const { rows } = await core.db.query(
    `select extract(epoch from probe_after - now())::float8 as seconds
       from ${REGISTRATIONS} where id <> $1`,
    [id],
  )
  t.equal(rows.length, 3)
  for (const { seconds } of rows) t.ok(seconds > 1800, `${seconds} seconds`)
})

t.test('many webhooks without deliveries do not keep others from being probed', async (t) => {
  const { core, receiver, failing, id } = await disabledWebhooks(t, 60)
  await failing.check()
  const { rowCount } = await core.db.query(
    `select from ${REGISTRATIONS} where id = $1 and probe_after is not null`,
    [id],
  )
  t.equal(rowCount, 1, 'in the same check')
  // On a busy machine the job may be locked, or the attempt may end before its request is sent.
  await until(async () => {
    if (receiver.received.length > 0) return true
    await core.db.query(`update ${REGISTRATIONS} set probe_after = now() where id = $1`, [id])
    await failing.check()
    return false
  })
  t.pass('and the receiver gets the probe')
})

t.test('probes that wait longest are made first', async (t) => {
  const { core, failing, id } = await disabledWebhooks(t, 120)
  await core.db.query(
    `update ${REGISTRATIONS} set disabled_at = now() - interval '1 day' where id = $1`,
    [id],
  )
  await failing.check()
  const { rows } = await core.db.query(
    `select id from ${REGISTRATIONS} order by probe_after, id limit 50`,
  )
  t.ok(rows.some((row: { id: string }) => row.id === id))
})
