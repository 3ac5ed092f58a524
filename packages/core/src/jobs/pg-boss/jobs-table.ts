/**
 * Statements on pg-boss's table of jobs that its public methods do not offer, or not for a batch.
 * They name columns of its schema, and tests run each of them on the real schema. contract.ts says what
 * the columns mean to us.
 * The ids are given twice: as an array they are looked up by the index, whatever the planner
 * estimates.
 */
import type { Db } from '../../postgres/transaction.ts'
import type { Job } from '../job.ts'

/** A lease that was not renewed for this time has expired, and its process counts as dead. */
export const HEARTBEAT_SECONDS = 20
/** Rows that one statement deletes. */
const PORTION = 5000

/** The columns of a job's row that make a {@link Job}, of a table or part named `job`. */
export const JOB_COLUMNS = `job.id, job.data, job.retry_count as "retryCount",
  job.retry_limit as "retryLimit", job.group_id as "groupId",
  extract(epoch from job.created_on)::float8 * 1000 as "createdOn",
  job.started_on::text as "startedOn",
  case when job.retry_count > 0 then job.output end as output`

/** The group that `job` belongs to: an expression for `Worker.readWithClaim`. */
export const GROUP_OF_JOB = 'job.singleton_key'

export interface JobRow<Data> {
  id: string
  data: Data
  retryCount: number
  retryLimit: number
  groupId: string | null
  /** Milliseconds since 1970. */
  createdOn: number
  startedOn: string | null
  output: unknown
}

export function asJob<Data>(row: JobRow<Data>): Job<Data> {
  return {
    id: row.id,
    data: row.data,
    attempt: row.retryCount + 1,
    attemptsLeft: Math.max(0, row.retryLimit - row.retryCount),
    group: row.groupId,
    createdAt: new Date(row.createdOn),
    lost: row.retryCount > 0 && isLost(row.output),
    retryCount: row.retryCount,
    startedOn: row.startedOn,
  }
}

/** The messages that pg-boss writes into a job whose lease has expired. */
export const LOST_MESSAGES = ['job timed out', 'job heartbeat timeout'] as const

export function isLost(output: unknown): boolean {
  const value = (output as { value?: { message?: unknown } } | null)?.value
  return LOST_MESSAGES.some((message) => message === value?.message)
}

/** When a job is attempted again. */
export interface NextAttempt {
  at: Date
  /**
   * The milliseconds until then by the clock of Postgres, which may differ from that of the
   * process.
   */
  inMs: number
}

/** Of a job whose `start_after` was set just now. */
export const NEXT_ATTEMPT = `extract(epoch from job.start_after)::float8 * 1000 as at,
  extract(epoch from job.start_after - clock_timestamp())::float8 * 1000 as "inMs"`

export const nextAttemptsOf = (rows: { id: string; at: number; inMs: number }[]) =>
  new Map(rows.map(({ id, at, inMs }) => [id, { at: new Date(at), inMs }]))

/** No attempt follows the current one, unless another process has the job by now. */
export async function useUpAttempts(db: Db, queue: string, jobs: Job[]): Promise<void> {
  if (jobs.length === 0) return
  await db.query(
    `update svc_jobs.job as job set retry_limit = job.retry_count
       from unnest($2::uuid[], $3::int[]) as attempt (id, retry_count)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = attempt.id
        and job.state = 'active' and job.retry_count = attempt.retry_count`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)],
  )
}

/** Gives a lease back: pg-boss counts the next fetch as the same attempt. */
export const LEASE_RETURNED = `
  state = case when job.retry_count = 0 then 'created' else 'retry' end::svc_jobs.job_state,
  retry_count = greatest(job.retry_count - 1, 0),
  started_on = case when job.retry_count = 0 then null else job.started_on end`

/**
 * Puts fetched jobs back. No attempt is used up. Those that could not be sent say since when that is so.
 * Returns when each is tried again.
 */
export async function postponeJobs(
  db: Db,
  queue: string,
  jobs: { job: Job; delayMs: number; isUnsent?: boolean }[],
): Promise<Map<string, NextAttempt>> {
  if (jobs.length === 0) return new Map()
  // `retry_count` goes down again, so that only `started_on` names the lease.
  const { rows } = await db.query(
    `update svc_jobs.job as job
        set ${LEASE_RETURNED},
            start_after = now() + wait.ms * interval '1 millisecond',
            keep_until = now() + wait.ms * interval '1 millisecond' + (job.keep_until - job.start_after),
            data = case when wait.is_unsent and not job.data ? 'unsentSince'
              then job.data || jsonb_build_object('unsentSince', now()) else job.data end
       from unnest($2::uuid[], $3::timestamptz[], $4::float8[], $5::bool[])
              as wait (id, started_on, ms, is_unsent)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = wait.id
        and job.state = 'active' and job.started_on = wait.started_on
     returning job.id, ${NEXT_ATTEMPT}`,
    [
      queue,
      jobs.map(({ job }) => job.id),
      jobs.map(({ job }) => job.startedOn),
      jobs.map(({ delayMs }) => delayMs),
      jobs.map(({ isUnsent = false }) => isUnsent),
    ],
  )
  return nextAttemptsOf(rows)
}

/** Heartbeat: pg-boss takes a job back whose heartbeat is too old. Returns the jobs whose lease is still ours. */
export async function renewLeases(
  db: Db,
  queue: string,
  jobs: Job[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query(
    `update svc_jobs.job as job set heartbeat_on = clock_timestamp()
       from unnest($2::uuid[], $3::timestamptz[]) as claim (id, started_on)
      where job.name = $1 and job.id = any($2::uuid[]) and job.id = claim.id
        and job.state = 'active' and job.started_on = claim.started_on
     returning job.id`,
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
