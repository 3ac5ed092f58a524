import { openReceiver } from '../../support/receiver.ts'
import { useCore } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { QUEUE } from '../../../packages/webhooks/src/outbound/delivery-queue.ts'
import { takeProbes } from '../../../packages/webhooks/src/tables/webhook-health.ts'
import { startHost } from '../support/host.ts'
import { until } from '../../support/until.ts'
import { scene } from './support/scene.ts'

const REGISTRATIONS = `svc."__svc.webhooks.registrations"`
const autoDisable = { failingForSeconds: 3600, minAttempts: 1, probeEverySeconds: 3600 }

/**
 * Webhooks that are disabled as failing: the last one has a delivery that waits. The host that probes
 * starts after that: no other statement holds a lock while it probes.
 */
async function disabledWebhooks(t: Test, empty: number) {
  const publisher = await startHost(t, { core: { worker: { enabled: false } } })
  const { register, ask, database } = publisher
  const receiver = await openReceiver(t, { answer: 500 })
  for (let n = 0; n < empty; n++) await register(receiver.url, ['order.shipped'])
  const { id } = await register(receiver.url, ['order.created'])
  t.equal((await ask('PATCH', `/${id}`, { active: false })).status, 200)
  t.equal((await ask('POST', `/${id}/test`)).status, 202)
  const core = await useCore((await startHost(t, { database, autoDisable })).app)
  await core.db.query(
    `update ${REGISTRATIONS} set active = false, disabled_reason = 'failing',
            disabled_at = now() - interval '2 hours'`,
  )
  // The one with the delivery became due last.
  await core.db.query(
    `update ${REGISTRATIONS} set disabled_at = now() - interval '90 minutes' where id = $1`,
    [id],
  )
  const probe = () => core.underTest.runTasks()
  return { core, receiver, probe, id }
}

t.test('a webhook is due again after the time between probes', async (t) => {
  const { core, probe, id } = await disabledWebhooks(t, 3)
  await probe()
  const { rows } = await core.db.query(
    `select extract(epoch from probe_after - now())::float8 as seconds
       from ${REGISTRATIONS} where id <> $1`,
    [id],
  )
  t.equal(rows.length, 3)
  for (const { seconds } of rows) t.ok(seconds > 1800, `${seconds} seconds`)
})

for (const [what, maxAttempts, withoutJobs, headers] of [
  ['a waiting delivery', 1000, 'none', { 'x-svc-event': 'order.created' }],
  ['a dead letter', 1, QUEUE, { 'x-svc-event': 'order.created', 'x-svc-attempt': '2' }],
  ['a test', 1, `${QUEUE}%`, { 'x-svc-test': 'true' }],
] as const) {
  t.test(`a probe with ${what} that has failed does not delay the next one`, async (t) => {
    const { app, receiver, isDisabled, hasStopped } = await scene(t, {
      core: { worker: { maxAttempts } },
      // An attempt may take far longer than the test.
      deliveryTimeoutMs: 600_000,
      autoDisable: { failingForSeconds: 0.2, minAttempts: 2, probeEverySeconds: 0.5 },
    })
    await until(async () => {
      await app.svc.events.publish('order.created', {})
      return isDisabled()
    })
    await until(hasStopped)
    // The next probe would be due late after one whose job went while it was made.
    await until(async () => {
      const { rows } = await app.svc.database.query(
        `with active as materialized (select from svc_jobs.job where name = $2 and state = 'active'),
              gone as (delete from svc_jobs.job where name like $1 and not exists (select from active))
         select not exists (select from active) as "isIdle"`,
        [withoutJobs, QUEUE],
      )
      return rows[0].isIdle
    })
    const probes = receiver.received.length + 4
    await receiver.waitFor(probes, { timeoutMs: 50_000 })
    t.match(receiver.received.at(-1)!.headers, headers)
  })
}

t.test('a probe that ends while its row is locked is ended by the next check', async (t) => {
  const { app, register } = await startHost(t, {
    deliveryTimeoutMs: 600_000,
    autoDisable: { failingForSeconds: 3600, minAttempts: 1, probeEverySeconds: 60 },
  })
  const { db, underTest } = await useCore(app)
  const other = await app.svc.database.connect()
  t.teardown(() => other.release(true))
  const receiver = await openReceiver(t, {
    async answer() {
      await other.query('begin')
      await other.query(`select from ${REGISTRATIONS} for no key update`)
      return 500
    },
  })
  const { id } = await register(receiver.url)
  await db.query(
    `update ${REGISTRATIONS} set active = false, disabled_reason = 'failing',
            disabled_at = now() - interval '2 hours'`,
  )
  const dueInSeconds = async () => {
    const { rows } = await db.query(
      `select extract(epoch from probe_after - now())::float8 as seconds
         from ${REGISTRATIONS} where id = $1`,
      [id],
    )
    return rows[0].seconds as number
  }
  await underTest.runTasks()
  t.ok((await dueInSeconds()) > 500, 'its attempt may last so long')
  await other.query('rollback')
  await underTest.runTasks()
  t.ok((await dueInSeconds()) < 61)
  t.equal(receiver.received.length, 1)
})

t.test('many webhooks without deliveries do not keep others from being probed', async (t) => {
  const { core, receiver, probe, id } = await disabledWebhooks(t, 60)
  await probe()
  const { rowCount } = await core.db.query(
    `select from ${REGISTRATIONS} where id = $1 and probe_after is not null`,
    [id],
  )
  t.equal(rowCount, 1, 'in the same check')
  // On a busy machine the job may be locked, or the attempt may end before its request is sent.
  await until(async () => {
    if (receiver.received.some(({ body }) => body.payload.webhookId === id)) return true
    await core.db.query(`update ${REGISTRATIONS} set probe_after = now() where id = $1`, [id])
    await probe()
    return false
  })
  t.pass('and the receiver gets the probe')
})

t.test('probes that wait longest are made first', async (t) => {
  const { app, register } = await startHost(t, { core: { worker: { enabled: false } } })
  const { db } = await useCore(app)
  for (let n = 0; n < 60; n++) await register('https://receiver.example/')
  const { id } = await register('https://receiver.example/')
  await db.query(
    `update ${REGISTRATIONS} set active = false, disabled_reason = 'failing',
            disabled_at = now() - case when id = $1 then interval '1 day' else interval '2 hours' end`,
    [id],
  )
  const first = await takeProbes(db, 3600, 3600)
  t.equal(first.length, 50)
  t.ok(first.includes(id))
})
