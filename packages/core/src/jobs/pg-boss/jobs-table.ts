/**
 * Statements on pg-boss's table of jobs that its public methods do not offer, or not for a batch.
 * They name columns of its schema, and tests run each of them on the real schema. contract.ts says what
 * the columns mean to us.
 * The ids are given twice: as an array they are looked up by the index, whatever the planner
 * estimates.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'

const PORTION = 5000

/** The columns of a job's row that make a {@link Job}, of a table or part named `job`. */
export const JOB_COLUMNS = `job.id, job.data, job.retry_count as "retryCount",
  job.retry_limit as "retryLimit", job.group_id as "groupId",
  extract(epoch from job.created_on)::float8 * 1000 as "createdOn",
  job.started_on::text as "startedOn"`

export interface JobRow<Data> {
  id: string
  data: Data
  retryCount: number
  retryLimit: number
  groupId: string | null
  /** Milliseconds since 1970. */
  createdOn: number
  startedOn: string | null
}

export function asJob<Data>(row: JobRow<Data>): Job<Data> {
  return {
    id: row.id,
    data: row.data,
    attempt: row.retryCount + 1,
    attemptsLeft: Math.max(0, row.retryLimit - row.retryCount),
    recipient: row.groupId,
    createdAt: new Date(row.createdOn),
    retryCount: row.retryCount,
    startedOn: row.startedOn,
  }
}

/** Which of these claims are still those of their jobs: a transaction may have rolled some back. */
export async function findClaimed(
  db: Db,
  queue: string,
  jobs: Job[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query(
    `select job.id from unnest($2::uuid[], $3::timestamptz[]) as claim (id, started_on)
       join svc_jobs.job as job
         on job.name = $1 and job.id = claim.id
        and job.state = 'active' and job.started_on = claim.started_on`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ startedOn }) => startedOn)],
  )
  return new Set(rows.map(({ id }: { id: string }) => id))
}

/**
 * Deletes a portion of the waiting jobs in queues under `prefix` whose subscription is retired.
 * Returns whether there may be more.
 */
export async function deleteRetiredJobs(db: Db, prefix: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `with retired as materialized (
       select queue.name from svc_jobs.queue
        where starts_with(queue.name, $1) and queue.dead_letter is not null
          and not exists (
            select from svc."__svc.subscriptions" as wants where wants.queue = queue.name)
     ), portion as materialized (
       select job.name, job.id from svc_jobs.job as job join retired on retired.name = job.name
        where job.state < 'active' limit $2 for update of job skip locked
     )
     delete from svc_jobs.job as job using portion
      where job.name = portion.name and job.id = portion.id`,
    [prefix, PORTION],
  )
  return rowCount === PORTION
}

/** A condition for `delete from "__svc.events" as event`: no job, waiting, active or dead, refers to it. */
export const NO_JOB_NEEDS_EVENT = `not exists (
  select from svc_jobs.job
   where job.data ->> 'eventId' = event.id and job.data ->> 'event' = event.name)`
