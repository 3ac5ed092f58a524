/**
 * Statements on pg-boss's table of jobs, where its public methods know no batch (several start
 * times) or nothing of the kind. They name columns of its schema: each is tested on the real one.
 * The ids are given twice: as an array they are looked up by their index, whatever the planner
 * believes of the table.
 */
import type { Db } from '../../postgres/transaction.ts'
import { PRIORITY, type Job } from '../job.ts'

/** An attempt whose process has not renewed its claim for so long counts as lost. */
export const HEARTBEAT_SECONDS = 20
/** Rows that one statement deletes. */
const PORTION = 5000

/**
 * Sends jobs that were just failed to the slow lane, and waits longer than pg-boss's back-off where
 * the receiver asked for that, never shorter. Returns when each will be tried again.
 */
export async function slowDown(
  db: Db,
  queue: string,
  jobs: { id: string; atLeastMs: number }[],
): Promise<Map<string, Date>> {
  if (jobs.length === 0) return new Map()
  const { rows } = await db.query(
    `update svc_jobs.job as job
        set priority = $4,
            start_after = greatest(job.start_after, now() + delay.ms * interval '1 millisecond')
       from unnest($2::uuid[], $3::float8[]) as delay (id, ms)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = delay.id and job.state = 'retry'
     returning job.id, job.start_after as "startAfter"`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ atLeastMs }) => atLeastMs), PRIORITY.retry],
  )
  return new Map(rows.map((row) => [row.id as string, new Date(row.startAfter)]))
}

/** Makes the attempt that runs the last one of its job; not where another process has it by now. */
export async function makeLastAttempt(db: Db, queue: string, jobs: Job[]): Promise<void> {
  if (jobs.length === 0) return
  await db.query(
    `update svc_jobs.job as job set retry_limit = job.retry_count
       from unnest($2::uuid[], $3::int[]) as attempt (id, retry_count)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = attempt.id
        and job.state = 'active' and job.retry_count = attempt.retry_count`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)],
  )
}

/** Takes a claim back: pg-boss counts the next one as the same attempt. */
export const UNCLAIMED = `
  state = case when job.retry_count = 0 then 'created' else 'retry' end::svc_jobs.job_state,
  retry_count = greatest(job.retry_count - 1, 0),
  started_on = case when job.retry_count = 0 then null else job.started_on end`

/** Puts claimed jobs back without using an attempt up. Returns when each is tried again. */
export async function postponeJobs(
  db: Db,
  queue: string,
  jobs: { job: Job; delayMs: number }[],
): Promise<Map<string, Date>> {
  if (jobs.length === 0) return new Map()
  // A count that is given back names no claim: the fence is the moment of the claim.
  const { rows } = await db.query(
    `update svc_jobs.job as job
        set ${UNCLAIMED},
            start_after = now() + wait.ms * interval '1 millisecond',
            keep_until = now() + wait.ms * interval '1 millisecond' + (job.keep_until - job.start_after)
       from unnest($2::uuid[], $3::timestamptz[], $4::float8[]) as wait (id, started_on, ms)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = wait.id
        and job.state = 'active' and job.started_on = wait.started_on
     returning job.id, job.start_after as "startAfter"`,
    [
      queue,
      jobs.map(({ job }) => job.id),
      jobs.map(({ job }) => job.startedOn),
      jobs.map(({ delayMs }) => delayMs),
    ],
  )
  return new Map(rows.map((row) => [row.id as string, new Date(row.startAfter)]))
}

/** The process of these claims lives: pg-boss takes a claim back that has not said so for a while. */
export async function touchJobs(db: Db, queue: string, jobs: Job[]): Promise<void> {
  await db.query(
    `update svc_jobs.job as job set heartbeat_on = now()
       from unnest($2::uuid[], $3::timestamptz[]) as claim (id, started_on)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = claim.id
        and job.state = 'active' and job.started_on = claim.started_on`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ startedOn }) => startedOn)],
  )
}

/**
 * Deletes a portion of what waits in queues under `prefix` whose subscription has been retired
 * since. Returns whether there may be more.
 */
export async function sweepRetired(db: Db, prefix: string): Promise<boolean> {
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

/** A condition for `delete from "__svc.events" as event`: no job, waiting, running or dead, points at it. */
export const NO_JOB_NEEDS_EVENT = `not exists (
  select from svc_jobs.job
   where job.data ->> 'eventId' = event.id and job.data ->> 'event' = event.name)`
