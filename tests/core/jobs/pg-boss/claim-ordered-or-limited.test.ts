import t, { type Test } from 'tap'
import {
  claimRestricted,
  type PermitReport,
} from '../../../../packages/core/src/jobs/pg-boss/claim-ordered-or-limited.ts'
import { setHeld } from '../../../../packages/core/src/jobs/pg-boss/recipient-states-table.ts'
import type { Restrictions } from '../../../../packages/core/src/jobs/pg-boss/recipient-states-table.ts'
import { liftRestrictions, setRestrictions } from '../../support/set-restrictions.ts'
import { namesOf, startWorkedHost } from '../../support/worked-host.ts'
import { RECIPIENT, QUEUE } from '../../support/worker.ts'

const NONE: Restrictions = { rateLimit: null, maxInFlight: null, ordered: false }

/** Jobs `1`, `2`, … that wait, in this order; no worker runs. */
async function waiting(t: Test, count: number, restrictions: Partial<Restrictions>) {
  const { core, worker } = await startWorkedHost(t, { enabled: false })
  const { db } = core
  await setRestrictions(db, { ...NONE, ...restrictions })
  for (let n = 1; n <= count; n++) await worker.insert([String(n)], RECIPIENT)
  const claim = (
    limit: number,
    reports: PermitReport[] = [],
    read?: string,
    endedJobs: string[] = [],
  ) =>
    claimRestricted<{ eventId: string }>(db, {
      queue: QUEUE,
      limits: [{ recipient: RECIPIENT, limit }],
      reports,
      endedJobs,
      owner: 'this process',
      read,
    })
  const settle = (id: string) =>
    db.query(`delete from svc_jobs.job where name = $1 and id = $2`, [QUEUE, id])
  return { core, db, claim, settle, worker }
}

t.test('an attempt that is done counts no more, also before it is settled', async (t) => {
  for (const restrictions of [{ ordered: true }, { maxInFlight: 1 }]) {
    const { claim } = await waiting(t, 3, restrictions)
    const [one] = (await claim(1)).jobs
    t.equal(one?.data.eventId, '1')
    t.match(await claim(1), { jobs: [], results: [{ isBusy: true }] })
    const next = await claim(1, [], undefined, [one?.id as string])
    t.same(namesOf(next.jobs), ['2'])
    t.match(next.results, [{ isBusy: true, hasMore: true }])
    t.same((await claim(1, [], undefined, [one?.id as string])).jobs, [], 'the next one runs')
    const ended = [one?.id as string, next.jobs[0]?.id as string]
    const last = await claim(1, [], undefined, ended)
    t.same(namesOf(last.jobs), ['3'])
    t.match(last.results, [{ hasMore: false }])
  }
})

t.test('what a dead process had done and not settled is repeated in its order', async (t) => {
  const { claim, db } = await waiting(t, 3, { ordered: true })
  const [one] = (await claim(1)).jobs
  const [two] = (await claim(1, [], undefined, [one?.id as string])).jobs
  t.equal(two?.data.eventId, '2')
  // As the jobs of a dead process are taken back.
  await db.query(
    `update svc_jobs.job set state = 'retry', start_after = now() where name = $1 and state = 'active'`,
    [QUEUE],
  )
  const again: string[] = []
  for (let n = 0; n < 3; n++) {
    const [job] = (await claim(1)).jobs
    t.equal((await claim(1)).jobs.length, 0)
    again.push(job?.data.eventId as string)
    await db.query('delete from svc_jobs.job where id = $1', [job?.id])
  }
  t.same(again, ['1', '2', '3'])
})

t.test('a claim by rate brings so many jobs, and the time of the next one', async (t) => {
  const { claim } = await waiting(t, 6, { rateLimit: { limit: 3, perSeconds: 100 } })
  const first = await claim(10)
  t.same(namesOf(first.jobs), ['1', '2', '3'])
  const [one, two] = first.jobs.map(({ permit }) => permit?.id as string)
  const before = first.results[0]?.waitMs as number
  t.ok(before > 101_000 && before <= 102_000, 'as if they began late, and were long on their way')
  t.same((await claim(10)).jobs, [])

  const told = await claim(10, [{ permitId: one as string, afterMs: 10, tookMs: 5 }])
  t.same(told.jobs, [])
  t.equal(told.results[0]?.isTold, true)
  const after = told.results[0]?.waitMs as number
  t.ok(after < 100_015, 'since the end of the attempt')
  const { jobs } = await claim(10, [{ permitId: two as string, afterMs: null, tookMs: null }])
  t.same(namesOf(jobs), ['4'], 'one was given back')
})

t.test('a rate is one of any span, whatever it was before', async (t) => {
  const { claim, db } = await waiting(t, 6, { rateLimit: { limit: 2, perSeconds: 100 } })
  t.equal((await claim(10)).jobs.length, 2)
  const wider = { ...NONE, rateLimit: { limit: 5, perSeconds: 200 } }
  await setRestrictions(db, wider)
  t.equal((await claim(10)).jobs.length, 3)
  await db.query(
    `update svc."__svc.attempt_permits" set begun_by = begun_by - interval '203 seconds'`,
  )
  t.equal((await claim(10)).jobs.length, 1)
})

t.test('many permits are kept in few rows', async (t) => {
  const limit = { limit: 5000, perSeconds: 1000 }
  const { claim, db } = await waiting(t, 2, { rateLimit: limit })
  await db.query(
    `insert into svc."__svc.attempt_permits" (id, queue, recipient, permitted_at, begun_by)
     select gen_random_uuid(), $1, $2, at, at
       from generate_series(1, 4999) as n, lateral (
              select clock_timestamp() - n * interval '0.1 second' as at) as moment`,
    [QUEUE, RECIPIENT],
  )
  t.equal((await claim(10)).jobs.length, 1)
  const { results } = await claim(10)
  t.ok((results[0]?.waitMs as number) > 480_000, 'until the first of them has left the span')
  const { rows } = await db.query(
    `select count(*)::int as rows, sum(attempts)::int as attempts from svc."__svc.attempt_permits"`,
  )
  t.equal(rows[0].attempts, 5000)
  t.ok(rows[0].rows < 300)
})

t.test('a claim by attempts at a time brings as many as are not under way', async (t) => {
  const { claim, settle } = await waiting(t, 5, { maxInFlight: 2 })
  const { jobs, results } = await claim(10)
  t.same(namesOf(jobs), ['1', '2'])
  t.match(results, [{ isBusy: true }])
  t.same((await claim(10)).jobs, [])
  await settle(jobs[0]!.id)
  const next = await claim(1)
  t.same(namesOf(next.jobs), ['3'])
  t.equal(next.jobs[0]?.permit?.id, null, 'there is nothing to tell of it')
})

t.test(
  'a claim by order brings the oldest job alone, and none before its attempts are made',
  async (t) => {
    const { claim, db, settle } = await waiting(t, 3, { ordered: true })
    const [one] = (await claim(10)).jobs
    t.equal(one?.data.eventId, '1')
    t.same((await claim(10)).jobs, [])
    await db.query(
      `update svc_jobs.job set state = 'retry', start_after = now() + interval '1 minute' where id = $1`,
      [one!.id],
    )
    const held = await claim(10)
    t.same(held.jobs, [])
    t.ok((held.results[0]?.waitMs as number) > 50_000)
    await settle(one!.id)
    t.same(namesOf((await claim(10)).jobs), ['2'])
  },
)

t.test('a claim by several restrictions is held to the narrowest', async (t) => {
  const rateLimit = { limit: 2, perSeconds: 100 }
  const { claim, settle } = await waiting(t, 4, { ordered: true, maxInFlight: 3, rateLimit })
  for (const name of ['1', '2']) {
    const { jobs } = await claim(10)
    t.same(namesOf(jobs), [name])
    await settle(jobs[0]!.id)
  }
  const { jobs, results } = await claim(10)
  t.same(jobs, [])
  t.ok((results[0]?.waitMs as number) > 90_000)
})

t.test(
  'a claim brings nothing of a recipient that is held, or locked by another process',
  async (t) => {
    const { claim, core, db } = await waiting(t, 1, { maxInFlight: 5 })
    await setHeld(db, QUEUE, [RECIPIENT], true)
    t.match(await claim(10), { jobs: [], results: [{ isTold: false, isBusy: true }] })
    await setHeld(db, QUEUE, [RECIPIENT], false)
    await core.transaction(async (locked) => {
      await locked.query(`select from svc."__svc.recipient_states" for no key update`)
      t.match(await claim(10), { jobs: [], results: [{ isTold: false, isBusy: false, waitMs: 0 }] })
    })
    t.same(namesOf((await claim(10)).jobs), ['1'])
  },
)

t.test('a claim brings jobs from before the restriction, and keeps their order', async (t) => {
  const { claim, core, db, worker, settle } = await waiting(t, 0, { maxInFlight: 1 })
  await liftRestrictions(db, QUEUE, RECIPIENT)
  await worker.insert(['1', '2'], RECIPIENT)
  await setRestrictions(db, { ...NONE, ordered: true })
  await worker.insert(['3'], RECIPIENT)
  await core.transaction(async (locked) => {
    await locked.query(`select from svc_jobs.job where data ->> 'eventId' = '2' for update`)
    t.match(await claim(1), { jobs: [], results: [{ isBusy: false, waitMs: 0 }] })
  })
  for (const name of ['1', '2', '3']) {
    const { jobs } = await claim(10)
    t.same(namesOf(jobs), [name])
    await settle(jobs[0]!.id)
  }
})

t.test(
  'a job that began before its recipient was ordered keeps its place if it fails',
  async (t) => {
    const { claim, db, worker } = await waiting(t, 0, { maxInFlight: 1 })
    await liftRestrictions(db, QUEUE, RECIPIENT)
    await worker.insert(['1', '2'], RECIPIENT)
    const set = (columns: string) =>
      db.query(`update svc_jobs.job set ${columns} where data ->> 'eventId' = '1'`)
    await set(`state = 'active'`)
    await setRestrictions(db, { ...NONE, ordered: true })
    t.match(await claim(1), { jobs: [], results: [{ isBusy: true }] })
    await set(`state = 'retry', priority = -1, start_after = now() + interval '1 minute'`)
    const { jobs, results } = await claim(1)
    t.same(jobs, [])
    t.ok((results[0]?.waitMs as number) > 50_000)
  },
)

t.test('a job that is claimed alone comes with what its worker needs', async (t) => {
  const { db, claim } = await waiting(t, 4, { maxInFlight: 4 })
  await db.query(
    `create function svc.read_job(data json) returns json language sql
     as $$ select json_build_object('event', data -> 'event') $$`,
  )
  const readsOf = async (limit: number) => {
    const { jobs } = await claim(limit, [], 'read_job')
    return jobs.map(({ read }) => read)
  }
  t.same(await readsOf(1), [{ event: 'test' }])
  t.same(await readsOf(2), [undefined, undefined], 'several share what is read for all of them')
  t.same(
    (await claim(1)).jobs.map(({ read }) => read),
    [undefined],
  )
  t.same(await readsOf(1), [], 'none waits')
})
