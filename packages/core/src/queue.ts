/**
 * The one door to pg-boss: its jobs, retries, back-off, expiry and dead-letter queues. Where its
 * public methods know no batch (several start times, several outputs), a statement on its table
 * stands here, and nowhere else.
 */
import { PgBoss, type Job as BossJob, type JobWithMetadata } from 'pg-boss'
import type { Db } from './database.ts'
import type { WorkerSettings } from './options.ts'

export const JOBS_SCHEMA = 'svc_jobs'

/** A job as its worker sees it. */
export interface Job<Data = FanOutJob> {
  id: string
  data: Data
  /** 1, 2, … of this row; a redriven job starts anew. */
  attempt: number
  isLastAttempt: boolean
  /** Jobs of one group share its in-flight cap. */
  group: string | null
  createdAt: Date
  /** The attempt before this one ended with its process. */
  lost: boolean
  /** Fences a settle off whose claim has lapsed: pg-boss compares it. */
  retryCount: number
}

/** What a job that came of an event holds: the payload stays in the event. */
export interface FanOutJob {
  event: string
  eventId: string
  /** Set where the subscription fans out. */
  target?: string
  deliveryId: string
  /** Attempts made before the job was redriven. */
  attemptsBefore?: number
}

export interface NewJob {
  id: string
  data: object
  group?: string
  startAfter?: Date
}

export interface DeadLetter<Data = FanOutJob> {
  /** The id in the dead-letter queue. */
  id: string
  data: Data
  /** What the last attempt left, see `Outcome.output`; `undefined` where its process died. */
  output: unknown
  /** Attempts of the row that died. */
  attempts: number
  deadAt: Date
}

export interface QueueOptions {
  /** A job that is not settled by then counts as lost and is tried again. */
  expireInSeconds: number
  deadLetterRetentionDays: number
}

/** Fresh jobs go first; retries and the jobs of a tripped group wait in the slow lane. */
export type Lane = 'fresh' | 'slow'
const FRESH = 0
const SLOW = -1

/** pg-boss deletes a waiting job that is older than this without dead-lettering it: far beyond any pause. */
const TEN_YEARS_IN_SECONDS = 10 * 365 * 24 * 3600
const DAY_IN_SECONDS = 24 * 3600

export async function startBoss(
  pool: Db,
  supervise: boolean,
  log: { error(error: unknown): void; warn(warning: unknown): void },
): Promise<PgBoss> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    schema: JOBS_SCHEMA,
    schedule: false,
    supervise,
    // The sweep that brings the jobs of a killed worker back: with the defaults it takes 15 minutes.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
  })
  boss.on('error', (error) => log.error(error))
  boss.on('warning', (warning) => log.warn(warning))
  await boss.start()
  return boss
}

export const deadLetterQueueOf = (queue: string): string => `${queue}.dlq`

/** Makes the queue and its dead-letter queue, or brings both to these settings. */
export async function defineQueue(
  boss: PgBoss,
  queue: string,
  worker: WorkerSettings,
  options: QueueOptions & { ownTable: boolean },
): Promise<void> {
  const deadLetterQueue = deadLetterQueueOf(queue)
  const retentionSeconds = options.deadLetterRetentionDays * DAY_IN_SECONDS
  const dead = { retentionSeconds, retryLimit: 0 }
  const alive = {
    expireInSeconds: options.expireInSeconds,
    retentionSeconds: TEN_YEARS_IN_SECONDS,
    // What has died stands in the dead-letter queue: the row it leaves behind serves nobody.
    deleteAfterSeconds: 60,
    retryLimit: worker.maxAttempts - 1,
    retryDelay: worker.retryDelaySeconds,
    // Twice nothing is nothing, where pg-boss would make a second of it.
    retryBackoff: worker.retryBackoff && worker.retryDelaySeconds > 0,
    retryDelayMax: worker.retryDelayMaxSeconds,
    deadLetter: deadLetterQueue,
  }
  const { retryDelayMax, ...always } = alive
  const backoff = alive.retryBackoff ? { retryDelayMax } : {}
  await boss.createQueue(deadLetterQueue, dead)
  await boss.updateQueue(deadLetterQueue, dead)
  await boss.createQueue(queue, { ...always, ...backoff, partition: options.ownTable })
  // `createQueue` leaves a queue that exists as it is.
  await boss.updateQueue(queue, { ...always, ...backoff })
}

export async function insertJobs(boss: PgBoss, db: Db, queue: string, jobs: NewJob[]) {
  if (jobs.length === 0) return
  await boss.insert(
    queue,
    jobs.map(({ id, data, group, startAfter }) => ({
      id,
      data,
      ...(group === undefined ? {} : { group: { id: group }, singletonKey: group }),
      ...(startAfter === undefined ? {} : { startAfter: startAfter.toISOString() }),
    })),
    { db: asBossDb(db) },
  )
}

/** Claims jobs that may start now. `ignoreGroups` are passed over. */
export async function fetchJobs<Data>(
  boss: PgBoss,
  db: Db,
  queue: string,
  { limit, lane, ignoreGroups }: { limit: number; lane: Lane; ignoreGroups: string[] },
): Promise<Job<Data>[]> {
  const rows = await boss.fetch<Data>(queue, {
    batchSize: limit,
    includeMetadata: true,
    ...(lane === 'fresh' ? { minPriority: FRESH } : { maxPriority: SLOW }),
    ...(ignoreGroups.length > 0 ? { ignoreGroups } : {}),
    db: asBossDb(db),
  })
  return rows.map(asJob)
}

function asJob<Data>(row: JobWithMetadata<Data>): Job<Data> {
  return {
    id: row.id,
    data: row.data,
    attempt: row.retryCount + 1,
    isLastAttempt: row.retryCount >= row.retryLimit,
    group: row.groupId ?? null,
    createdAt: row.createdOn,
    lost: row.retryCount > 0 && hasTimedOut(row.output),
    retryCount: row.retryCount,
  }
}

/** What pg-boss leaves in a job whose worker did not settle it in time. */
function hasTimedOut(output: unknown): boolean {
  const value = (output as { value?: { message?: unknown } } | null)?.value
  return value?.message === 'job timed out'
}

/** Deletes jobs that are done. Returns the ids that were still ours to settle. */
export async function removeJobs(boss: PgBoss, db: Db, queue: string, jobs: Job<unknown>[]) {
  if (jobs.length === 0) return []
  return settledOf(await boss.deleteJob(queue, jobs, { db: asBossDb(db) }))
}

/** One failed attempt each: a retry after pg-boss's back-off, or the dead-letter queue. */
export async function failJobs(
  boss: PgBoss,
  db: Db,
  queue: string,
  jobs: Job<unknown>[],
  output: object,
) {
  if (jobs.length === 0) return []
  return settledOf(await boss.fail(queue, jobs, output, { db: asBossDb(db) }))
}

const settledOf = (response: unknown): string[] =>
  (response as { settled?: string[] | null }).settled ?? []

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
        set priority = ${SLOW},
            start_after = coalesce(delay.not_before, job.start_after)
       from unnest($2::uuid[], $3::timestamptz[]) as delay (id, not_before)
      where job.name = $1 and job.id = delay.id and job.state = 'retry'
     returning job.id, job.start_after as "startAfter"`,
    [queue, jobs.map(({ id }) => id), jobs.map(({ notBefore }) => notBefore)],
  )
  return new Map(rows.map((row: { id: string; startAfter: Date }) => [row.id, row.startAfter]))
}

/** Makes the attempt that runs the last one of its job. */
export async function makeLastAttempt(db: Db, queue: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await db.query(
    `update svc_jobs.job set retry_limit = retry_count where name = $1 and id = any($2::uuid[])`,
    [queue, ids],
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

/** Moves the waiting jobs of a group between the lanes. Retries that wait for their time stay. */
export async function moveGroup(db: Db, queue: string, group: string, lane: Lane): Promise<number> {
  const { rowCount } = await db.query(
    `update svc_jobs.job set priority = $3
      where name = $1 and singleton_key = $2 and state < 'active' and not blocked
        and priority <> $3 and (state = 'created' or start_after <= now())`,
    [queue, group, lane === 'fresh' ? FRESH : SLOW],
  )
  return rowCount ?? 0
}

/** The waiting jobs of a group start no earlier than `until`; with a moment that has passed, now. */
export async function deferGroup(db: Db, queue: string, group: string, until: Date) {
  const { rowCount } = await db.query(
    `update svc_jobs.job
        set start_after = $3, keep_until = $3 + (keep_until - start_after)
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
  return rows.map((row) => {
    const job = asJob<FanOutJob>(row)
    return row.started ? { ...job, attempt: job.attempt + 1 } : job
  })
}

/** Newest first; `after` is the id of the last one seen. */
export async function listDeadLetters(
  db: Db,
  queue: string,
  { group, limit, after, ids }: { group?: string; limit?: number; after?: string; ids?: string[] },
): Promise<DeadLetter[]> {
  const { rows } = await db.query(
    `select id, data, source_output as output, source_retry_count + 1 as attempts,
            created_on as "deadAt"
       from svc_jobs.job
      where name = $1
        and ($2::text is null or singleton_key = $2)
        and ($3::uuid[] is null or id = any($3))
        and ($4::uuid is null or (created_on, id) <
             (select created_on, id from svc_jobs.job where name = $1 and id = $4))
      order by created_on desc, id desc
      limit $5`,
    [deadLetterQueueOf(queue), group ?? null, ids ?? null, after ?? null, limit ?? null],
  )
  return rows.map((row) => ({ ...row, output: hasTimedOut(row.output) ? undefined : row.output }))
}

/**
 * Takes dead letters out of their queue; whoever calls puts them back to work in the same
 * transaction. Two at once share them: each letter goes to one.
 */
export async function takeDeadLetters(
  db: Db,
  queue: string,
  { group, ids }: { group: string; ids?: string[] },
): Promise<DeadLetter[]> {
  const { rows } = await db.query(
    `delete from svc_jobs.job
      where name = $1 and singleton_key = $2 and ($3::uuid[] is null or id = any($3))
     returning id, data, source_output as output, source_retry_count + 1 as attempts,
               created_on as "deadAt"`,
    [deadLetterQueueOf(queue), group, ids ?? null],
  )
  return rows
}

/** Deletes what waits in the queue; its dead letters stay. */
export async function emptyQueue(boss: PgBoss, queue: string): Promise<void> {
  if (await boss.getQueue(queue)) await boss.deleteQueuedJobs(queue)
}

/** A condition for `delete from "__svc.events" as event`: no job, waiting, running or dead, points at it. */
export const NO_JOB_NEEDS_EVENT = `not exists (
  select from svc_jobs.job
   where job.data ->> 'eventId' = event.id and job.data ->> 'event' = event.name)`

const asBossDb = (db: Db) => ({
  executeSql: (text: string, values?: unknown[]) => db.query(text, values),
})

export type { PgBoss, BossJob }
