import t from 'tap'
import type { Db } from '@svc/core'
import { useCore } from '@svc/core/internal'
import { rollUpRecent } from '../../../packages/webhooks/src/tables/stats.ts'
import { verdictOf } from '../../../packages/webhooks/src/outbound/health/auto-disable.ts'
import { lockFailing, markWarned } from '../../../packages/webhooks/src/tables/webhook-health.ts'
import { startHost } from '../support/host.ts'

const ADDRESS = 'https://receiver.example/hook'

/** Attempts that are recorded and not counted, in minutes ago. */
const recorded = (
  db: Db,
  webhookId: string,
  { successes = [], failures = [] }: { successes?: number[]; failures?: number[] },
) =>
  db.query(
    `insert into svc."__svc.webhooks.recent_attempts"
       (at, webhook_id, event, status, succeeded, recorded_at)
     select now(), $1, 'order.created', 'failed', succeeded, now() - minutes * interval '1 minute'
       from (select true as succeeded, unnest($2::float8[]) as minutes
             union all select false, unnest($3::float8[])) as attempt`,
    [webhookId, successes, failures],
  )

t.test('the results of attempts add up, in whatever order they are counted', async (t) => {
  const { app, register } = await startHost(t, { core: { worker: { enabled: false } } })
  const core = await useCore(app)
  const db = app.svc.database
  const { id } = await register(ADDRESS)
  const count = async (attempts: Parameters<typeof recorded>[2]) => {
    await recorded(db, id, attempts)
    return await core.transaction(rollUpRecent)
  }
  const stored = async () => {
    const { rows } = await db.query(
      `select round(extract(epoch from now() - failing_since) / 60)::int as failing,
              round(extract(epoch from now() - last_success_at) / 60)::int as success,
              round(extract(epoch from now() - last_failure_at) / 60)::int as failure,
              failed_attempts as attempts
         from svc."__svc.webhooks.registrations" where id = $1`,
      [id],
    )
    return rows[0]
  }

  t.match(await count({ successes: [70, 60] }), { hasMore: false, working: [] })
  t.strictSame(await stored(), { failing: null, success: 60, failure: null, attempts: 0 })
  await count({ failures: [50, 45, 40] })
  t.strictSame(await stored(), { failing: 50, success: 60, failure: 40, attempts: 3 })
  await count({ failures: [42, 41] })
  t.strictSame(await stored(), { failing: 50, success: 60, failure: 40, attempts: 5 })

  // A success in the middle of the failures.
  await count({ successes: [30], failures: [35, 20] })
  t.strictSame(await stored(), { failing: 20, success: 30, failure: 20, attempts: 1 })
  await count({ failures: [35, 33] })
  t.strictSame(await stored(), { failing: 20, success: 30, failure: 20, attempts: 1 })
  await count({ successes: [10] })
  t.strictSame(await stored(), { failing: null, success: 10, failure: 20, attempts: 0 })

  const client = await db.connect()
  await client.query('begin')
  await client.query(`select from svc."__svc.webhooks.registrations" for update`)
  t.match(await count({ successes: [5] }), { hasMore: false }, 'nobody waits for a locked row')
  t.match(await stored(), { success: 10 })
  await client.query('rollback')
  client.release()
  t.match(await count({}), { hasMore: false })
  t.match(await stored(), { success: 5 }, 'what was left is counted later')
})

t.test('attempts at an address that the webhook has no longer do not count', async (t) => {
  const { app, ask, register } = await startHost(t, { core: { worker: { enabled: false } } })
  const core = await useCore(app)
  const { id } = await register(ADDRESS)
  await recorded(app.svc.database, id, { failures: [2, 1] })
  t.match(await ask('PATCH', `/${id}`, { url: 'https://other.example/hook' }), { status: 200 })
  await core.transaction(rollUpRecent)
  t.match((await ask('GET', `/${id}`)).body, { failingSince: null, lastFailureAt: null })
})

t.test(
  'an open transaction that changes a webhook keeps no other from being counted',
  async (t) => {
    const { app, ask, register } = await startHost(t, { core: { worker: { enabled: false } } })
    const core = await useCore(app)
    const [one, other] = [await register(ADDRESS), await register(ADDRESS)]
    for (const { id } of [one, other]) await recorded(app.svc.database, id, { failures: [1] })
    await app.svc.transaction(async (db) => {
      await app.svc.webhooks.update({ id: one.id, active: true }, { db })
      await core.transaction(rollUpRecent)
      t.match((await ask('GET', `/${other.id}`)).body, { failingSince: String })
    })
    await core.transaction(rollUpRecent)
    t.match((await ask('GET', `/${one.id}`)).body, { failingSince: null })
  },
)

t.test(
  'a webhook is warned of once its attempts span the time, and disabled once there are enough',
  async (t) => {
    const { app, register } = await startHost(t, { core: { worker: { enabled: false } } })
    const db = app.svc.database
    const { id } = await register(ADDRESS)
    await recorded(db, id, { failures: [50, 20, 1] })
    await (await useCore(app)).transaction(rollUpRecent)
    const [failing] = await lockFailing(db, [id])
    t.match(failing, { id, failedAttempts: 3, isWarned: false })
    const minute = 60
    for (const [warnAfterSeconds, failingForSeconds, minAttempts, isWarned, verdict] of [
      [50 * minute, 60 * minute, 3, false, { warns: false, disables: false }],
      [48 * minute, 60 * minute, 3, false, { warns: true, disables: false }],
      [48 * minute, 60 * minute, 3, true, { warns: false, disables: false }],
      [24 * minute, 48 * minute, 4, true, { warns: false, disables: false }],
      [24 * minute, 48 * minute, 3, true, { warns: false, disables: true }],
      [24 * minute, 48 * minute, 3, false, { warns: true, disables: true }],
    ] as const) {
      const rules = { warnAfterSeconds, failingForSeconds, minAttempts, probeEverySeconds: null }
      t.same(verdictOf({ ...failing!, isWarned }, rules), verdict)
    }
    await markWarned(db, [id])
    t.match(await lockFailing(db, [id]), [{ isWarned: true }])
  },
)
