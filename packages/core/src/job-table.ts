/**
 * Statements on pg-boss's table of jobs, where its public methods know no batch (several start
 * times) or nothing of the kind. They name columns of its schema: each is tested on the real one.
 */
import type { Db } from './database.ts'
import { asJob, PRIORITY, type FanOutJob, type Job, type JobRow } from './job.ts'

/**
 * Sends jobs that were just failed to the slow lane, not before `notBefore` where the receiver
 * asked for that. Returns when each will be tried again.
 */
export async function slowDown(
  db: Db,
  queue: string,
  jobs: { id: string; notBefore: Date | null }[],
): Promise<Map<string, Date>> {
  if (jobs.length === 0) return new Map()
  const { rows } = await db.query(
    `update svc_jobs.job as job
        set priority = $4,
            start_after = coalesce(delay.not_before, job.start_after)
       from unnest($2::uuid[], $3::timestamptz[]) as delay (id, not_before)
      where job.name = $1 and job.id = delay.id and job.state = 'retry'
     returning job.id, job.start_after as "startAfter"`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ notBefore }) => notBefore), PRIORITY.retry],
  )
  return new Map(rows.map((row) => [row.id as string, new Date(row.startAfter)]))
}

/** Makes the attempt that runs the last one of its job; not where another process has it by now. */
export async function makeLastAttempt(db: Db, queue: string, jobs: Job[]): Promise<void> {
  if (jobs.length === 0) return
  await db.query(
    `update svc_jobs.job as job set retry_limit = job.retry_count
       from unnest($2::uuid[], $3::int[]) as attempt (id, retry_count)
      where job.name = $1 and job.id = attempt.id
        and job.state = 'active' and job.retry_count = attempt.retry_count`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount)],
  )
}

/** Puts claimed jobs back without using an attempt up. */
export async function postponeJobs(
  db: Db,
  queue: string,
  jobs: { job: Job<unknown>; until: Date }[],
): Promise<string[]> {
  if (jobs.length === 0) return []
  const { rows } = await db.query(
    `update svc_jobs.job as job
        set state = case when job.retry_count = 0 then 'created' else 'retry' end::svc_jobs.job_state,
            retry_count = greatest(job.retry_count - 1, 0),
            started_on = case when job.retry_count = 0 then null else job.started_on end,
            start_after = wait.until,
            keep_until = wait.until + (job.keep_until - job.start_after)
       from unnest($2::uuid[], $3::int[], $4::timestamptz[]) as wait (id, retry_count, until)
      where job.name = $1 and job.id = wait.id
        and job.state = 'active' and job.retry_count = wait.retry_count
     returning job.id`,
    [
      queue,
      jobs.map(({ job }) => job.id),
      jobs.map(({ job }) => job.retryCount),
      jobs.map(({ until }) => until),
    ],
  )
  return rows.map((row: { id: string }) => row.id)
}

/** Jobs that one statement moves: the row locks of a million would keep everybody waiting. */
const PORTION = 2000

/**
 * Puts what groups have waiting behind everything else. Retries that wait for their time stay.
 * Returns whether there is more of it.
 */
export async function setBack(db: Db, queue: string, groups: string[]): Promise<boolean> {
  const { rowCount } = await db.query(
    `update svc_jobs.job as job set priority = $3
      where job.name = $1 and job.id in (
        select waiting.id from svc_jobs.job as waiting
         where waiting.name = $1 and waiting.singleton_key = any($2::text[])
           and waiting.state < 'active' and not waiting.blocked and waiting.priority > $3
           and waiting.start_after <= now()
         limit $4
         for update skip locked)`,
    [queue, groups, PRIORITY.backlog, PORTION],
  )
  return rowCount === PORTION
}

/** The waiting jobs of a group start no earlier than `until`; with a moment that has passed, now. */
export async function deferGroup(db: Db, queue: string, group: string, until: Date) {
  const { rowCount } = await db.query(
    `update svc_jobs.job
        set start_after = $3::timestamptz,
            keep_until = $3::timestamptz + (keep_until - start_after)
      where name = $1 and singleton_key = $2 and state < 'active'`,
    [queue, group, until],
  )
  return rowCount ?? 0
}

/** Deletes the waiting jobs of a group and returns them. */
export async function discardGroup(db: Db, queue: string, group: string): Promise<Job[]> {
  const { rows } = await db.query(
    `delete from svc_jobs.job
      where name = $1 and singleton_key = $2 and state < 'active'
     returning id, data, retry_count as "retryCount", retry_limit as "retryLimit",
               group_id as "groupId", created_on as "createdOn", output,
               started_on is not null as started`,
    [queue, group],
  )
  // The attempt that a waiting job would have made next: pg-boss counts when it claims.
  return rows.map((row: JobRow<FanOutJob> & { started: boolean }) => {
    const job = asJob(row)
    return row.started ? { ...job, attempt: job.attempt + 1 } : job
  })
}

/** Deletes what waits in queues under `prefix` whose subscription has been retired since. */
export async function sweepRetired(db: Db, prefix: string): Promise<void> {
  await db.query(
    `delete from svc_jobs.job
      where state < 'active'
        and name in (
          select queue.name from svc_jobs.queue
           where starts_with(queue.name, $1) and queue.dead_letter is not null
             and not exists (
               select from svc."__svc.subscriptions" as wants where wants.queue = queue.name))`,
    [prefix],
  )
}

/** A condition for `delete from "__svc.events" as event`: no job, waiting, running or dead, points at it. */
export const NO_JOB_NEEDS_EVENT = `not exists (
  select from svc_jobs.job
   where job.data ->> 'eventId' = event.id and job.data ->> 'event' = event.name)`

/** Jobs come and go all day, and the planner must know about how many there are. */
const SETTINGS = {
  autovacuum_vacuum_scale_factor: 0.02,
  autovacuum_vacuum_threshold: 500,
  autovacuum_analyze_scale_factor: 0.05,
  autovacuum_analyze_threshold: 500,
}

/** Has a queue's table vacuumed and analyzed more often; once, after it is made. */
export async function tendTable(db: Db, queue: string): Promise<void> {
  const { rows } = await db.query(
    `select class.oid::regclass::text as name
       from svc_jobs.queue
       join pg_class as class
         on class.oid = to_regclass('svc_jobs.' || quote_ident(queue.table_name))
      where queue.name = $1 and class.reloptions is null`,
    [queue],
  )
  const [table] = rows
  if (!table) return
  const settings = Object.entries(SETTINGS).map(([name, value]) => `${name} = ${value}`)
  await db.query(`alter table ${table.name} set (${settings.join(', ')})`)
  await db.query(`analyze ${table.name}`)
}
