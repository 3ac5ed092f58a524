/**
 * Statements on the waiting jobs of a recipient, by its key: they are put aside and back, made due, or discarded.
 *
 * Each statement selects its portion in a materialized part, and changes the rows of an array of ids. With a
 * join instead, and an estimate of an empty table, the planner runs the selection once for each row, or reads
 * the table once for each row of the selection. The lanes are given as rows: they are looked up one by one.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'
import { asJob, JOB_COLUMNS, type JobRow } from './jobs-table.ts'

/** Rows that one statement moves: a fetch may wait for their locks. */
const PORTION = 2000

/**
 * Moves a portion of the waiting jobs of these recipients to where the table of recipients has them: aside, or into the
 * lanes.
 */
export async function moveJobs(
  db: Db,
  queue: string,
  recipients: string[],
): Promise<{ moved: number; hasMore: boolean }> {
  const { rows } = await db.query(
    `with known as materialized (
       -- The indexes of jobs have the default collation.
       select recipient collate "default" as recipient, held or circuit_open or restricted as is_aside
         from svc."__svc.recipient_states"
        where queue = $1 and recipient = any($2::text[])
     ), portion as materialized (
       select its.id from known
        cross join unnest(array[0, -1, -2]) as lane
        cross join lateral (
          select id from svc_jobs.job
           where name = $1 and priority = lane and singleton_key = known.recipient
             and blocked and state < 'active' and known.is_aside = (lane > -2)
           order by start_after limit $3
           for update skip locked) as its
        limit $3
     ), moved as (
       update svc_jobs.job as job
          set priority = case when job.priority > -2 then -2 when job.state = 'retry' then -1 else 0 end
        where job.name = $1 and job.id = any(array(select id from portion))
     )
     select count(*)::int as moved from portion`,
    [queue, recipients, PORTION],
  )
  const { moved } = rows[0] as { moved: number }
  return { moved, hasMore: moved === PORTION }
}

/**
 * Makes a portion of a recipient's waiting jobs due that are not yet, and whose last attempt began before
 * a moment: `null` for now. Returns how many, and whether all are: others may be locked.
 */
export async function makeWaitingDue(
  db: Db,
  queue: string,
  recipient: string,
  attemptedBefore: string | null = null,
): Promise<{ done: number; isFinished: boolean }> {
  const { rows } = await db.query(
    `with waiting as materialized (
       select its.id from unnest(array[-2, -1, 0]) as lane
        cross join lateral (
          select id from svc_jobs.job
           where name = $1 and priority = lane and singleton_key = $2
             and blocked and state < 'active' and start_after > now()
             -- Not now(): the transaction may have begun long before.
             and (started_on is null or started_on < coalesce($4::timestamptz, clock_timestamp()))
           order by start_after limit $3 + 1) as its
        limit $3 + 1
     ), portion as materialized (
       select id from svc_jobs.job
        where name = $1 and id = any(array(select id from waiting limit $3)) and state < 'active'
        for update skip locked
     ), made_due as (
       update svc_jobs.job as job set start_after = now()
        where job.name = $1 and job.id = any(array(select id from portion))
     )
     select (select count(*) from portion)::int as done,
            (select count(*) from waiting) = (select count(*) from portion) as "isFinished"`,
    [queue, recipient, PORTION, attemptedBefore],
  )
  return rows[0] as { done: number; isFinished: boolean }
}

/** Deletes a portion of a recipient's waiting jobs and returns them; `attempt` is their next one. */
export async function discardWaiting<Data>(
  db: Db,
  queue: string,
  recipient: string,
  portion: number,
): Promise<Job<Data>[]> {
  const { rows } = await db.query(
    `with portion as materialized (
       select its.id from unnest(array[-2, -1, 0]) as lane
        cross join lateral (
          select id from svc_jobs.job
           where name = $1 and priority = lane and singleton_key = $2 and blocked and state < 'active'
           limit $3 for update skip locked) as its
        limit $3
     )
     delete from svc_jobs.job as job
      where job.name = $1 and job.id = any(array(select id from portion))
     returning ${JOB_COLUMNS}`,
    [queue, recipient, portion],
  )
  return rows.map((row: JobRow<Data>) => {
    const job = asJob(row)
    // pg-boss counts an attempt when the job is fetched.
    return row.startedOn === null ? job : { ...job, attempt: job.attempt + 1 }
  })
}

/** How many jobs of each of these recipients wait or are attempted, by indexes, up to `most` in all. */
export async function countJobs(
  db: Db,
  queue: string,
  recipients: string[],
  most: number,
): Promise<Map<string, number>> {
  if (recipients.length === 0) return new Map()
  const { rows } = await db.query(
    `select wanted.group_id as "recipient", least($3, waiting.jobs + active.jobs)::int as jobs
       from unnest($2::text[]) as wanted (group_id)
      cross join lateral (
        select count(*) as jobs from (
          select from unnest(array[-2, -1, 0]) as lane
           cross join lateral (
             select from svc_jobs.job
              where name = $1 and priority = lane and singleton_key = wanted.group_id
                and blocked and state < 'active'
              limit $3) as job
           limit $3) as found
      ) as waiting
      cross join lateral (
        select count(*) as jobs from (
          select from svc_jobs.job
           where name = $1 and group_id = wanted.group_id and state = 'active'
           limit $3) as found
      ) as active`,
    [queue, recipients, most],
  )
  return new Map(
    rows.map(({ recipient, jobs }: { recipient: string; jobs: number }) => [recipient, jobs]),
  )
}
