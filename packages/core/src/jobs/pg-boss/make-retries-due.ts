/** Counts the jobs of a recipient that failed in a span and wait for their next attempt, and makes them due now. */
import type { Db } from '../../postgres/transaction.ts'
import { IS_TEST } from './contract.ts'

export interface FailedIn {
  recipient: string
  /** The recovery that makes them due: what an earlier one will make due is left to that. `null`: a new one. */
  recovery: string | null
  /** When their last attempt began, as ISO 8601. */
  since: string
  until: string
}

/**
 * The jobs of `$2` that no earlier recovery makes due: of those that have not ended, each makes all of its
 * span due. A job that is being attempted, and fails then, is not among them.
 */
const WAITING = `
  with earlier as materialized (
    select since, until from svc."__svc.work"
     where queue = $1 and recipient = $2 and what = 'failed' and finished_at is null
       and ($5::uuid is null or id < $5)
  ), waiting as materialized (
    select its.id from unnest(array[-2, -1, 0]) as lane
     cross join lateral (
       select job.id from svc_jobs.job as job
        where job.name = $1 and job.priority = lane and job.singleton_key = $2 and job.blocked
          and job.state = 'retry' and job.start_after > now()
          and job.started_on >= $3::timestamptz and job.started_on < $4::timestamptz
          and not job.data @> ${IS_TEST}
          and not exists (
            select from earlier
             where job.started_on >= earlier.since and job.started_on < earlier.until)
        order by job.start_after limit $6) as its
     limit $6
  )`

/** The recipients that have jobs which wait for their next attempt, after one that began in a span. */
export async function recipientsOfWaitingRetries(
  db: Db,
  queue: string,
  { since, until }: { since: string; until: string },
): Promise<string[]> {
  const { rows } = await db.query(
    `select distinct job.singleton_key as recipient
       from unnest(array[-2, -1, 0]) as lane
       join svc_jobs.job as job on job.name = $1 and job.priority = lane and job.blocked
      where job.state = 'retry' and job.singleton_key is not null and job.start_after > now()
        and job.started_on >= $2::timestamptz and job.started_on < $3::timestamptz
        and not job.data @> ${IS_TEST}`,
    [queue, since, until],
  )
  return rows.map(({ recipient }: { recipient: string }) => recipient)
}

export async function countWaitingRetries(
  db: Db,
  queue: string,
  { recipient, since, until, recovery }: FailedIn,
  most: number | null = null,
): Promise<number> {
  const { rows } = await db.query(`${WAITING} select count(*)::int as count from waiting`, [
    queue,
    recipient,
    since,
    until,
    recovery,
    most,
  ])
  return (rows[0] as { count: number }).count
}

/**
 * Makes the next attempt of a portion of them due now. Returns how many, and whether all are. A job that is
 * locked just now is about to be attempted, or is put aside or back: then another portion follows.
 */
export async function makeRetriesDue(
  db: Db,
  queue: string,
  { recipient, since, until, recovery }: FailedIn,
  portion: number,
): Promise<{ done: number; isFinished: boolean }> {
  const { rows } = await db.query(
    `${WAITING}, portion as materialized (
       select id from svc_jobs.job
        where name = $1 and id = any(array(select id from waiting)) and state = 'retry'
        for update skip locked
     ), made_due as (
       update svc_jobs.job as job set start_after = now()
        where job.name = $1 and job.id = any(array(select id from portion))
     )
     select (select count(*) from portion)::int as done, (select count(*) from waiting) = 0 as "isFinished"`,
    [queue, recipient, since, until, recovery, portion],
  )
  return rows[0] as { done: number; isFinished: boolean }
}
