import { useCore, type Core } from '@svc/core/internal'
import t, { type Test } from 'tap'
import { recordParked } from '../../../../packages/core/src/jobs/pg-boss/groups-table.ts'
import { workPortion } from '../../../../packages/core/src/jobs/groups/work-portion.ts'
import {
  insertWork,
  lockWork,
  type Work,
} from '../../../../packages/core/src/jobs/groups/work-table.ts'
import { claimParked, claimProbe } from '../../../../packages/core/src/jobs/pg-boss/parked-jobs.ts'
import {
  parkWaiting,
  SCAN_START,
  type ScanPosition,
} from '../../../../packages/core/src/jobs/pg-boss/park-jobs.ts'
import { makeRetriesDue } from '../../../../packages/core/src/jobs/pg-boss/make-retries-due.ts'
import { startHost } from '../../support/host.ts'
import { settle } from '../../../../packages/core/src/jobs/pg-boss/settle.ts'
import { NO_ENDS } from '../../support/claimed-jobs.ts'
import { GROUP, idOf, QUEUE } from '../../support/worker.ts'

const OTHER = '00000000-0000-4000-8000-000000000002'
const PORTION = 2000

/** A queue with the given number of jobs of each group, and no worker. */
async function queueOf(t: Test, counts: Record<string, number>): Promise<Core> {
  const { app } = await startHost(t, {
    core: { worker: { enabled: false } },
    setUp: (_app, core) => core.queues.define(QUEUE),
  })
  const core = await useCore(app)
  // The planner believes that there is next to nothing, as after a queue has drained: the statements
  // may not depend on it. A table that never had a row counts as one of unknown size.
  await core.queues.insert(core.db, QUEUE, [{ id: idOf('first'), data: {}, group: OTHER }])
  await core.db.query('delete from svc_jobs.job where name = $1', [QUEUE])
  await core.db.query('analyze')
  for (const [group, count] of Object.entries(counts)) {
    const jobs = Array.from({ length: count }, (_, n) => ({
      id: idOf(`${group} ${n}`),
      data: { n },
      group,
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

t.test('a portion moves what it selects, whatever the planner believes', async (t) => {
  const core = await queueOf(t, { [GROUP]: 2500, [OTHER]: 500 })
  const walk = { groups: [GROUP], includesNotDue: false }
  const first = await parkWaiting(core.db, QUEUE, walk, SCAN_START)
  t.match(first, { parked: PORTION, groups: [GROUP] })
  t.equal(await countOf(core, 'blocked'), PORTION)

  let parked = first.parked
  for (let place: ScanPosition | null = first.next; place;) {
    const portion = await parkWaiting(core.db, QUEUE, walk, place)
    parked += portion.parked
    place = portion.next
  }
  t.equal(parked, 2500)
  t.equal(await countOf(core, `blocked and singleton_key = '${OTHER}'`), 0)
})

t.test('parked jobs are claimed by their group, once each and the oldest first', async (t) => {
  const core = await queueOf(t, { [GROUP]: 300, [OTHER]: 300 })
  const walk = { groups: [GROUP, OTHER], includesNotDue: false }
  await parkWaiting(core.db, QUEUE, walk, SCAN_START)
  const claims = await Promise.all(
    Array.from({ length: 4 }, () =>
      claimParked<{ n: number }>(
        core.db,
        QUEUE,
        [
          { group: GROUP, limit: 60 },
          { group: OTHER, limit: 10 },
        ],
        'this process',
      ),
    ),
  )
  const jobs = claims.flat()
  t.equal(new Set(jobs.map(({ id }) => id)).size, jobs.length)
  const count = (group: string) => jobs.filter((job) => job.group === group).length
  t.strictSame([count(GROUP), count(OTHER)], [240, 40])
  t.match(jobs[0], { attempt: 1, startedOn: String, lost: false })
  t.equal(await countOf(core, `state = 'active' and not blocked`), 280)
  t.strictSame(await claimParked(core.db, QUEUE, [], 'this process'), [])
})

t.test(
  'jobs that are parked while the last of their group are discarded keep its row',
  async (t) => {
    const core = await queueOf(t, {})
    await recordParked(core.db, QUEUE, [GROUP])
    await insertWork(core.db, QUEUE, GROUP, 'discard')
    const work = (await core.transaction((db) => lockWork(db, [QUEUE]))) as Work
    // It has walked already, sees nothing parked, and ends.
    const walked: Work = { ...work, position: { scan: null } }
    const retry = {
      maxAttempts: 1,
      retryDelaySeconds: 0,
      retryBackoff: false,
      retryDelayMaxSeconds: 1,
    }
    let discarded: Promise<Work> | undefined
    await core.transaction(async (db) => {
      await core.queues.insert(db, QUEUE, [
        { id: idOf('late'), data: {}, group: GROUP, parked: true },
      ])
      discarded = core.transaction((other) => workPortion(other, walked, {}, retry))
      // The lock of the group's row is waited for.
      for (let waits = 0; waits === 0;) {
        const { rows } = await core.svc.database.query(
          `select count(*)::int as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
        )
        waits = rows[0].count
      }
    })
    t.type((await discarded)?.finishedAt, 'string')
    t.equal(await countOf(core, 'blocked'), 1)
    const { rowCount } = await core.db.query(
      `select from svc."__svc.recipient_states" where not held`,
    )
    t.equal(rowCount, 1, 'a worker will find it')
  },
)

t.test('the restrictions of a held group hold for its probe', async (t) => {
  const core = await queueOf(t, { [GROUP]: 3 })
  const probe = () => claimProbe<{ n: number }>(core.db, QUEUE, GROUP, 'this process')
  await core.db.query(`update svc_jobs.job set blocked = true where name = $1`, [QUEUE])
  await recordParked(core.db, QUEUE, [GROUP])
  const restrict = async (changes: string) => {
    await core.db.query(`update svc_jobs.job set state = 'created' where name = $1`, [QUEUE])
    const update = `update svc."__svc.recipient_states" set`
    await core.db.query(`${update} ordered = false, max_in_flight = null, rate_limit = null`)
    await core.db.query(`${update} ${changes}`)
  }
  await restrict('held = false')
  t.equal(await probe(), undefined, 'the group was resumed meanwhile')

  await restrict('held = true')
  t.match(await probe(), { isProbe: true, grant: undefined })
  t.equal(await countOf(core, `state = 'active' and not blocked`), 1)

  await restrict(`restricted = true, ordered = true`)
  t.match(await probe(), { isProbe: true, grant: { id: null } })
  t.equal(await countOf(core, `state = 'active' and blocked`), 1, 'marked while it runs')
  t.equal(await probe(), undefined, 'another attempt is under way')

  await restrict('max_in_flight = 2')
  t.ok(await probe())
  t.ok(await probe())
  t.equal(await probe(), undefined, 'two attempts are under way')

  await restrict('rate_limit = 2, rate_seconds = 3600')
  t.match(await probe(), { grant: { id: String } })
  t.ok(await probe())
  t.equal(await probe(), undefined, 'two attempts have begun within the hour')
  await core.db.query(
    `update svc."__svc.attempt_grants" set begun_by = begun_by - interval '2 hours'`,
  )
  t.ok(await probe())

  await restrict('unparked_since = now()')
  t.equal(await probe(), undefined, 'older jobs may not be parked yet')
})

t.test('a probe of an order takes its first job, and none where that is locked', async (t) => {
  const core = await queueOf(t, { [GROUP]: 3 })
  await parkWaiting(core.db, QUEUE, { groups: [GROUP], includesNotDue: false }, SCAN_START)
  await core.queues.hold(core.db, QUEUE, GROUP)
  const probe = async () =>
    (await claimProbe<{ n: number }>(core.db, QUEUE, GROUP, 'this process'))?.data.n
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
  const core = await queueOf(t, { [GROUP]: 3 })
  await parkWaiting(core.db, QUEUE, { groups: [GROUP], includesNotDue: false }, SCAN_START)
  await core.queues.hold(core.db, QUEUE, GROUP)
  await core.db.query(
    `update svc_jobs.job set start_after = now() + interval '1 hour'
      where name = $1 and data ->> 'n' <> '0'`,
    [QUEUE],
  )
  const failedProbe = async () => {
    const job = await claimProbe<{ n: number }>(core.db, QUEUE, GROUP, 'this process')
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

t.test('retries of a group become due in portions, in line and parked ones', async (t) => {
  const core = await queueOf(t, { [GROUP]: 25, [OTHER]: 25 })
  await core.db.query(
    `update svc_jobs.job
        set state = 'retry', retry_count = 1, blocked = (data ->> 'n')::int % 2 = 0,
            -- The retry of a process that died keeps the priority of a first attempt.
            priority = case when (data ->> 'n')::int % 3 = 0 then 0 else -1 end,
            started_on = now(), start_after = now() + interval '1 hour'
      where name = $1`,
    [QUEUE],
  )
  const span = { since: '2020-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' }
  const failed = { group: GROUP, ...span, recovery: null }
  const counts: number[] = []
  let position: ScanPosition | null = SCAN_START
  for (let isFinished = false; !isFinished;) {
    const portion = await makeRetriesDue(core.db, QUEUE, failed, position, 4)
    counts.push(portion.done)
    position = portion.next
    isFinished = portion.isFinished
  }
  t.equal(
    counts.reduce((sum, count) => sum + count),
    25,
    'each once',
  )
  t.ok(counts.every((count) => count <= 4))
  t.equal(await countOf(core, `start_after <= now() and singleton_key = '${GROUP}'`), 25)
  t.equal(await countOf(core, `start_after <= now() and singleton_key = '${OTHER}'`), 0)
})
