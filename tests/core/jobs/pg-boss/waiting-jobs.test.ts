import { useCore, type Core } from '@svc/core/internal'
import t, { type Test } from 'tap'
import {
  deleteUnusedRecipients,
  setHeld,
} from '../../../../packages/core/src/jobs/pg-boss/recipient-states-table.ts'
import {
  claimAside,
  fetchLap,
  fetchOldestRetries,
  type Lap,
} from '../../../../packages/core/src/jobs/pg-boss/claim-jobs.ts'
import { makeRetriesDue } from '../../../../packages/core/src/jobs/pg-boss/make-retries-due.ts'
import { QueueTable } from '../../../../packages/core/src/jobs/pg-boss/queue-table.ts'
import { settle } from '../../../../packages/core/src/jobs/pump/settle.ts'
import { claimProbe } from '../../../../packages/core/src/jobs/pg-boss/claim-ordered-or-limited.ts'
import { moveJobs } from '../../../../packages/core/src/jobs/pg-boss/waiting-jobs.ts'
import { startHost } from '../../support/host.ts'
import { A_LAP, NO_ENDS } from '../../support/claimed-jobs.ts'
import { RECIPIENT, idOf, QUEUE } from '../../support/worker.ts'

const OTHER = '00000000-0000-4000-8000-000000000002'
const THIRD = '00000000-0000-4000-8000-000000000003'
const TABLE = new QueueTable(QUEUE)

/** A queue with the given number of jobs of each recipient, and no worker. */
async function queueOf(t: Test, counts: Record<string, number>): Promise<Core> {
  const { app } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const core = await useCore(app)
  // The planner believes that there is next to nothing, as after a queue has drained: the statements
  // may not depend on it. A table that never had a row counts as one of unknown size.
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('first'), data: {}, recipient: OTHER }])
  await core.db.query('delete from svc_jobs.job where name = $1', [QUEUE])
  await core.db.query('analyze')
  for (const [recipient, count] of Object.entries(counts)) {
    const jobs = Array.from({ length: count }, (_, n) => ({
      id: idOf(`${recipient} ${n}`),
      data: { n },
      recipient,
    }))
    await core.queues.insert(core.db, QUEUE, jobs)
  }
  return core
}

async function countOf(core: Core, condition: string): Promise<number> {
  const { rows } = await core.db.query(
    `select count(*)::int as count from svc_jobs.job where name = $1 and ${condition}`,
    [QUEUE],
  )
  return rows[0].count
}

const lanesOf = async (core: Core, recipient: string): Promise<Record<string, number>> => {
  const { rows } = await core.db.query(
    `select priority, count(*)::int as count from svc_jobs.job
      where name = $1 and singleton_key = $2 and state < 'active' group by 1`,
    [QUEUE, recipient],
  )
  return Object.fromEntries(
    rows.map((row: { priority: number; count: number }) => [row.priority, row.count]),
  )
}

t.test(
  'waiting jobs are moved in portions to where the table of recipients has them',
  async (t) => {
    const core = await queueOf(t, { [RECIPIENT]: 2500, [OTHER]: 500 })
    await core.db.query(
      `update svc_jobs.job set state = 'retry', priority = -1
      where name = $1 and singleton_key = $2 and (data ->> 'n')::int < 100`,
      [QUEUE, RECIPIENT],
    )
    const move = () => moveJobs(core.db, QUEUE, [RECIPIENT, OTHER])
    t.same(await move(), { moved: 0, hasMore: false })
    await setHeld(core.db, QUEUE, [RECIPIENT], true)
    await setHeld(core.db, QUEUE, [OTHER], false)
    t.same(
      [await move(), await move(), await move()],
      [
        { moved: 2000, hasMore: true },
        { moved: 500, hasMore: false },
        { moved: 0, hasMore: false },
      ],
    )
    t.same(
      [await lanesOf(core, RECIPIENT), await lanesOf(core, OTHER)],
      [{ '-2': 2500 }, { '0': 500 }],
    )
    await setHeld(core.db, QUEUE, [RECIPIENT], false)
    t.same([(await move()).moved, (await move()).moved], [2000, 500])
    t.same(await lanesOf(core, RECIPIENT), { '-1': 100, '0': 2400 })
  },
)

t.test('jobs aside are claimed by their recipient, once each and the oldest first', async (t) => {
  const core = await queueOf(t, { [RECIPIENT]: 300, [OTHER]: 300 })
  await core.db.query(`update svc_jobs.job set priority = -2 where name = $1`, [QUEUE])
  const limits = [
    { recipient: RECIPIENT, limit: 60 },
    { recipient: OTHER, limit: 10 },
  ]
  const claims = await Promise.all(
    Array.from({ length: 4 }, () =>
      claimAside<{ n: number }>(core.db, TABLE, limits, 'this process'),
    ),
  )
  const jobs = claims.flat()
  t.equal(new Set(jobs.map(({ id }) => id)).size, jobs.length)
  const count = (recipient: string) => jobs.filter((job) => job.recipient === recipient).length
  t.strictSame([count(RECIPIENT), count(OTHER)], [240, 40])
  t.match(jobs[0], { attempt: 1, startedOn: String })
  t.strictSame(await claimAside(core.db, TABLE, [], 'this process'), [])
})

const countsOf = (jobs: { recipient: string | null }[]) =>
  [RECIPIENT, OTHER, THIRD].map(
    (recipient) => jobs.filter((job) => job.recipient === recipient).length,
  )

t.test('a lap brings of each recipient what it may have, from where it begins', async (t) => {
  const core = await queueOf(t, { [RECIPIENT]: 50, [OTHER]: 3, [THIRD]: 50 })
  const lap = async (its: Partial<Lap> & { limit: number }) =>
    countsOf(await fetchLap(core.db, TABLE, { ...A_LAP, ...its }))
  t.same(await lap({ limit: 100, each: 5 }), [5, 3, 5])
  t.same(await lap({ limit: 8, each: 6, after: OTHER }), [2, 0, 6], 'those after it come first')
  t.same(await lap({ limit: 100, each: 5, caps: { [RECIPIENT]: 0, [THIRD]: 20 } }), [0, 0, 20])
  t.same(await lap({ limit: 100, each: 0 }), [0, 0, 0])
  t.same(await lap({ limit: 100, lane: 'retry', each: 9 }), [0, 0, 0])
  await core.transaction(async (db) => {
    await fetchLap(db, TABLE, { ...A_LAP, limit: 10, each: 10 })
    t.same(await lap({ limit: 20, each: 20 }), [20, 0, 0], 'what others claim is passed')
  })
})

t.test('retries that are due are found among those that are not', async (t) => {
  const core = await queueOf(t, { [RECIPIENT]: 50, [OTHER]: 50, [THIRD]: 50 })
  const set = (columns: string, where: string) =>
    core.db.query(`update svc_jobs.job set ${columns} where name = $1 and ${where}`, [QUEUE])
  await set(`priority = -1, start_after = now() + interval '1 hour'`, 'true')
  const fetch = async (its: object = {}) =>
    countsOf(
      await fetchOldestRetries(core.db, TABLE, {
        limit: 100,
        each: 100,
        caps: {},
        owner: 'this process',
        ...its,
      }),
    )
  t.same(await fetch(), [0, 0, 0])
  await set('start_after = now()', `singleton_key <> '${RECIPIENT}' and (data ->> 'n')::int < 10`)
  t.same(await fetch({ each: 2, caps: { [THIRD]: 4 } }), [0, 2, 4])
  t.same(await fetch({ limit: 3 }), [0, 3, 0])
  t.same(await fetch(), [0, 5, 6])
})

t.test('a row goes only when no transaction can put jobs of its recipient aside', async (t) => {
  const core = await queueOf(t, {})
  await setHeld(core.db, QUEUE, [RECIPIENT], true)
  const unused = () => core.transaction((db) => deleteUnusedRecipients(db, QUEUE, [RECIPIENT]))
  t.same(await unused(), [], 'it is held')
  await core.transaction(async (db) => {
    await core.queues.insert(db, QUEUE, [{ id: idOf('late'), data: {}, recipient: RECIPIENT }])
    await setHeld(core.db, QUEUE, [RECIPIENT], false)
    t.same(await unused(), [], 'a transaction has put a job aside')
  })
  t.same(await lanesOf(core, RECIPIENT), { '-2': 1 })
  t.same(await unused(), [])
  await core.db.query(`update svc_jobs.job set state = 'active' where name = $1`, [QUEUE])
  t.same(await unused(), [], 'one that is attempted may come back')
  await core.db.query(`update svc_jobs.job set state = 'created' where name = $1`, [QUEUE])
  await moveJobs(core.db, QUEUE, [RECIPIENT])
  t.same(await unused(), [RECIPIENT])
})

t.test('the restrictions of a held recipient hold for its probe', async (t) => {
  const core = await queueOf(t, { [RECIPIENT]: 3 })
  const probe = () => claimProbe<{ n: number }>(core.db, QUEUE, RECIPIENT, 'this process')
  await setHeld(core.db, QUEUE, [RECIPIENT], true)
  const restrict = async (changes: string) => {
    await core.db.query(`update svc_jobs.job set state = 'created' where name = $1`, [QUEUE])
    const update = `update svc."__svc.recipient_states" set`
    await core.db.query(`${update} ordered = false, max_in_flight = null, rate_limit = null`)
    await core.db.query(`${update} ${changes}`)
    await moveJobs(core.db, QUEUE, [RECIPIENT])
  }
  await restrict('held = false')
  t.equal(await probe(), undefined, 'the recipient was resumed meanwhile')

  await restrict('held = true')
  t.match(await probe(), { isProbe: true, permit: undefined })
  t.equal(await countOf(core, `state = 'active'`), 1)

  await restrict(`restricted = true, ordered = true`)
  t.match(await probe(), { isProbe: true, permit: { id: null } })
  t.equal(await probe(), undefined, 'another attempt is under way')

  await restrict('max_in_flight = 2')
  t.ok(await probe())
  t.ok(await probe())
  t.equal(await probe(), undefined, 'two attempts are under way')

  await restrict('rate_limit = 2, rate_seconds = 3600')
  t.match(await probe(), { permit: { id: String } })
  t.ok(await probe())
  t.equal(await probe(), undefined, 'two attempts have begun within the hour')
  await core.db.query(
    `update svc."__svc.attempt_permits" set begun_by = begun_by - interval '2 hours'`,
  )
  t.ok(await probe())

  await restrict('ordered = true')
  await core.db.query(`update svc_jobs.job set priority = 0 where data ->> 'n' = '0'`)
  t.match(await probe(), { data: { n: 0 } }, 'an older job that is not aside yet')
})

t.test('a probe of an order takes its first job, and none where that is locked', async (t) => {
  const core = await queueOf(t, { [RECIPIENT]: 3 })
  await core.queues.hold(core.db, QUEUE, [RECIPIENT])
  await moveJobs(core.db, QUEUE, [RECIPIENT])
  const probe = async () =>
    (await claimProbe<{ n: number }>(core.db, QUEUE, RECIPIENT, 'this process'))?.data.n
  const restrict = (changes: string) =>
    core.db.query(`update svc."__svc.recipient_states" set restricted = true, ${changes}`)
  await core.transaction(async (db) => {
    await db.query(
      `select from svc_jobs.job where name = $1 order by created_on, id limit 1 for update`,
      [QUEUE],
    )
    await restrict('ordered = true')
    t.equal(await probe(), undefined, 'no other job overtakes the first one')
    await restrict('ordered = false, max_in_flight = 5')
    t.ok(await probe(), 'without an order any other job will do')
  })
  await core.db.query(`update svc_jobs.job set state = 'created' where name = $1`, [QUEUE])
  await restrict('ordered = true')
  t.equal(await probe(), 0)
})

t.test('a job whose probe has failed is probed after the others, save in an order', async (t) => {
  const core = await queueOf(t, { [RECIPIENT]: 3 })
  await core.queues.hold(core.db, QUEUE, [RECIPIENT])
  await moveJobs(core.db, QUEUE, [RECIPIENT])
  await core.db.query(
    `update svc_jobs.job set start_after = now() + interval '1 hour'
      where name = $1 and data ->> 'n' <> '0'`,
    [QUEUE],
  )
  const failedProbe = async () => {
    const job = await claimProbe<{ n: number }>(core.db, QUEUE, RECIPIENT, 'this process')
    const parked = job ? [{ ...job, isProbe: true }] : []
    const ended = await settle(core.db, QUEUE, { ...NO_ENDS, parked })
    t.strictSame([...ended.keys()], [job?.id])
    return job?.data.n
  }
  const probed: unknown[] = []
  for (let n = 0; n < 7; n++) probed.push(await failedProbe())
  t.strictSame(probed.slice(3, 6).toSorted(), [0, 1, 2])
  t.strictSame([...probed.slice(0, 3), probed[6]], [...probed.slice(3, 6), 0])

  await core.db.query(`update svc."__svc.recipient_states" set restricted = true, ordered = true`)
  t.strictSame([await failedProbe(), await failedProbe()], [0, 0])
})

t.test('retries of a recipient become due in portions, wherever they wait', async (t) => {
  const core = await queueOf(t, { [RECIPIENT]: 25, [OTHER]: 25 })
  await core.db.query(
    `update svc_jobs.job
        set state = 'retry', retry_count = 1,
            -- The retry of a process that died keeps the priority of a first attempt.
            priority = -((data ->> 'n')::int % 3),
            started_on = now(), start_after = now() + interval '1 hour'
      where name = $1`,
    [QUEUE],
  )
  const span = { since: '2020-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' }
  const failed = { recipient: RECIPIENT, ...span, recovery: null }
  const counts: number[] = []
  for (let isFinished = false; !isFinished;) {
    const portion = await makeRetriesDue(core.db, QUEUE, failed, 4)
    counts.push(portion.done)
    isFinished = portion.isFinished
  }
  t.same(counts, [4, 4, 4, 4, 4, 4, 1, 0])
  t.equal(await countOf(core, `start_after <= now() and singleton_key = '${RECIPIENT}'`), 25)
  t.equal(await countOf(core, `start_after <= now() and singleton_key = '${OTHER}'`), 0)
})
