import t, { type Test } from 'tap'
import type { Job } from '@svc/core/internal'
import { setHeld } from '../../../../packages/core/src/jobs/pg-boss/groups-table.ts'
import type { Restrictions } from '../../../../packages/core/src/jobs/pg-boss/restrictions-table.ts'
import { claimRestricted } from '../../../../packages/core/src/jobs/pg-boss/claim-ordered-or-limited.ts'
import { settleInLine } from '../../../../packages/core/src/jobs/pg-boss/settle.ts'
import { makeRecorder, rowsOf } from '../../support/claimed-jobs.ts'
import { explainingPool, nodesOf } from '../../../support/query-plans.ts'
import { setRestrictions } from '../../support/set-restrictions.ts'
import { startWorkedHost } from '../../support/worked-host.ts'
import { GROUP, idOf, QUEUE } from '../../support/worker.ts'

const ORDERED: Restrictions = { rateLimit: null, maxInFlight: null, ordered: true }
const OWNER = 'this process'

const READ = 'read_job'

/** Jobs `1`, `2`, … of an ordered group that wait in this order; no worker runs. */
async function line(t: Test, count: number) {
  const { core, database, worker: jobs } = await startWorkedHost(t, { enabled: false })
  const { db } = core
  await makeRecorder(db)
  await db.query(
    `create function svc.${READ}(data json) returns json language sql as $$
       select json_build_object('name', data ->> 'eventId')
     $$`,
  )
  await setRestrictions(db, ORDERED)
  for (let n = 1; n <= count; n++) await jobs.insert([String(n)], GROUP)
  return {
    core,
    database,
    db,
    claim: async () => {
      const { jobs } = await claimRestricted<{ eventId: string }>(db, {
        queue: QUEUE,
        limits: [{ group: GROUP, limit: 1 }],
        reports: [],
        owner: OWNER,
      })
      return jobs[0] as Job<{ eventId: string }>
    },
    settle: (job: Job) => settleInLine(db, QUEUE, job, OWNER, rowsOf([job]), READ),
    change: (name: string, columns: string) =>
      db.query(`update svc_jobs.job set ${columns} where name = $1 and id = $2`, [
        QUEUE,
        idOf(name),
      ]),
    settled: async () => {
      const { rows } = await db.query('select id from settled')
      return rows.map(({ id }: { id: string }) => id)
    },
  }
}

t.test('the settlement of a job claims the next one, until none is left', async (t) => {
  const { claim, settle, settled, db } = await line(t, 3)
  const one = await claim()
  const second = await settle(one)
  t.match(second, { isEmpty: false, next: { id: idOf('2'), attempt: 1, read: { name: '2' } } })
  t.same(await settled(), [one.id])
  const { rows } = await db.query(
    `select state::text, group_tier as owner, blocked from svc_jobs.job where id = $1`,
    [idOf('2')],
  )
  t.same(rows, [{ state: 'active', owner: OWNER, blocked: true }])
  t.equal(await claim(), undefined, 'it counts as any other')

  const third = await settle(second?.next as Job)
  t.equal(third?.next?.id, idOf('3'))
  t.same(await settle(third?.next as Job), { next: null, isEmpty: true })
  t.same(await settled(), ['1', '2', '3'].map(idOf))
})

t.test('nothing is settled or claimed for a job that another process has by now', async (t) => {
  const { claim, settle, settled, change } = await line(t, 2)
  const one = await claim()
  await change('1', `started_on = now() + interval '1 second'`)
  t.same(await settle(one), { next: null, isEmpty: false })
  t.same(await settled(), [])
})

t.test('the job is settled, and none claimed, where the next one may not begin', async (t) => {
  const { core, db, claim, settle, settled, change } = await line(t, 9)
  const restrict = (changes: Partial<Restrictions>) => () =>
    setRestrictions(db, { ...ORDERED, ...changes })
  const cases: Record<string, [from: () => Promise<unknown>, to: () => Promise<unknown>]> = {
    'the group is held': [
      () => setHeld(db, QUEUE, GROUP, true),
      () => setHeld(db, QUEUE, GROUP, false),
    ],
    'it is not ordered any more': [restrict({ ordered: false, maxInFlight: 5 }), restrict({})],
    'it has a rate': [restrict({ rateLimit: { limit: 9, perSeconds: 9 } }), restrict({})],
    'an older one does not wait aside': [
      () => change('9', 'priority = 0'),
      () => change('9', 'priority = -2'),
    ],
    'an attempt from before runs': [
      () => change('9', `state = 'active'`),
      () => change('9', `state = 'created'`),
    ],
    'the next one is not due': [
      () => change('7', `start_after = now() + interval '1 minute'`),
      () => change('7', `start_after = now()`),
    ],
  }
  let count = 0
  for (const [why, [from, to]] of Object.entries(cases)) {
    const job = await claim()
    await from()
    t.same(await settle(job), { next: null, isEmpty: false }, why)
    t.equal((await settled()).length, ++count)
    await to()
  }

  const locks = {
    'the group is locked': `select from svc."__svc.recipient_states" for no key update`,
    'the next one is locked': `select from svc_jobs.job where data ->> 'eventId' = '9' for update`,
  }
  for (const [why, lock] of Object.entries(locks)) {
    const job = await claim()
    await core.transaction(async (other) => {
      await other.query(lock)
      t.same(await settle(job), { next: null, isEmpty: false }, why)
    })
  }
  t.equal((await claim()).data.eventId, '9')
})

t.test('the next job is found by its index, however many wait', async (t) => {
  const { database, db, claim } = await line(t, 2)
  const job = await claim()
  // As those of another webhook.
  await db.query(
    `insert into svc_jobs.job (name, data, group_id, singleton_key, blocked, priority, created_on)
     select name, data, group_id || 'b', singleton_key || 'b', true, -2, created_on - interval '1 hour'
       from svc_jobs.job cross join generate_series(1, 5000) where id = $1`,
    [idOf('2')],
  )
  const { plans, pool } = explainingPool(t, database)
  await settleInLine(pool, QUEUE, job, OWNER, rowsOf([job]), READ)
  const read = plans.flatMap(nodesOf).map((node) => node['Actual Rows'] * node['Actual Loops'])
  t.ok(Math.max(...read) <= 2, `read at most ${Math.max(...read)} rows`)
})
