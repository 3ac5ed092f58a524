/** Counts the jobs of a group that failed in a span and wait for their next attempt, and makes them due now. */
import type { Db } from '../../postgres/transaction.ts'
import { positionAfter, type ScanPosition } from './park-jobs.ts'

export interface FailedIn {
  group: string
  /** The recovery that makes them due: what an earlier one will make due is left to that. `null`: a new one. */
  recovery: string | null
  /** When their last attempt began, as ISO 8601. */
  since: string
  until: string
}

export interface RetriesMadeDue {
  done: number
  /** Where the next portion begins; `null`: with those that are parked. */
  next: ScanPosition | null
  isFinished: boolean
}

const WAITS = `job.name = $1 and job.state = 'retry' and job.singleton_key = $2
  and job.start_after > now()
  and job.started_on >= $3::timestamptz and job.started_on < $4::timestamptz`

/** The earlier recoveries of the group that have not ended. */
const EARLIER = `earlier as materialized (
  select since, until, position is null as is_new,
         (position #>> '{scan,priority}')::integer as priority,
         (position #>> '{scan,createdOn}')::timestamptz as created_on
    from svc."__svc.work"
   where queue = $1 and recipient = $2 and what = 'failed' and finished_at is null
     and ($5::uuid is null or id < $5)
)`
const IN_ITS_SPAN = 'job.started_on >= earlier.since and job.started_on < earlier.until'
/**
 * It has not passed the job. It scans those that are not parked in the order of their indexes, and then all
 * that are parked.
 */
const NOT_PASSED = `(earlier.is_new or job.blocked or job.priority < earlier.priority
  or job.priority = earlier.priority and job.created_on >= earlier.created_on)`

/**
 * Counts the jobs that no earlier recovery has counted, `most` of them at most. A job that was being attempted then, and has failed
 * since, is not counted either: nothing tells it from a job that is just being parked.
 */
export async function countWaitingRetries(
  db: Db,
  queue: string,
  { group, since, until, recovery }: FailedIn,
  most: number | null = null,
): Promise<number> {
  const { rows } = await db.query(
    `with ${EARLIER}
     select count(*)::int as count from (
       select from svc_jobs.job as job
        where ${WAITS} and not exists (select from earlier where ${IN_ITS_SPAN}) limit $6) as counted`,
    [queue, group, since, until, recovery, most],
  )
  return (rows[0] as { count: number }).count
}

/**
 * Makes the next attempt of a portion of them due now. All portions together scan the index of the
 * fetches once, which has no groups, and then the index of the group's parked jobs. A job that is
 * locked just now is about to be attempted, or to be parked.
 */
export async function makeRetriesDue(
  db: Db,
  queue: string,
  failed: FailedIn,
  position: ScanPosition | null,
  portion: number,
): Promise<RetriesMadeDue> {
  if (position === null) {
    const { done } = await makeDue(db, queue, failed, portion, {
      among: `job.blocked and job.state < 'active'`,
      orderBy: 'job.start_after',
    })
    return { done, next: null, isFinished: done < portion }
  }
  const { done, last } = await makeDue(db, queue, failed, portion, {
    among: `not job.blocked and job.state < 'active'
      and job.priority = $7 and job.created_on >= $8::timestamptz`,
    orderBy: 'job.created_on',
    values: [position.priority, position.createdOn],
  })
  return { done, next: positionAfter(position, done, last, portion), isFinished: false }
}

async function makeDue(
  db: Db,
  queue: string,
  { group, since, until, recovery }: FailedIn,
  portion: number,
  { among, orderBy, values = [] }: { among: string; orderBy: string; values?: unknown[] },
): Promise<{ done: number; last: string | null }> {
  const { rows } = await db.query(
    `with ${EARLIER}, portion as materialized (
       select job.id, job.created_on from svc_jobs.job as job
        where ${WAITS} and ${among}
          and not exists (select from earlier where ${IN_ITS_SPAN} and ${NOT_PASSED})
        order by ${orderBy} limit $6 for update skip locked
     ), made_due as (
       update svc_jobs.job as job set start_after = now()
        where job.name = $1 and job.id = any(array(select id from portion))
     )
     -- As JSON: the form of a timestamp as text is a setting of the session.
     select count(*)::int as done, to_json(max(created_on)) #>> '{}' as last from portion`,
    [queue, group, since, until, recovery, portion, ...values],
  )
  return rows[0] as { done: number; last: string | null }
}
