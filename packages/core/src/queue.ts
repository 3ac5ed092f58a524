/** The one door to pg-boss: its jobs, retries, back-off, expiry and dead-letter queues. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { PgBoss as NewPgBoss } from 'pg-boss'
import type { Db } from './database.ts'
import { asJob, deadLetterQueueOf, PRIORITY, type Job, type Lane, type NewJob } from './job.ts'
import { tendTable } from './job-table.ts'
import type { Jobs as PgBoss } from './jobs.ts'
import type { WorkerSettings } from './options.ts'

export const JOBS_SCHEMA = 'svc_jobs'

export interface QueueOptions {
  /** A job that is not settled by then counts as lost and is tried again. */
  expireInSeconds: number
  deadLetterRetentionDays: number
}

/** pg-boss deletes a waiting job that is older than this without dead-lettering it: far beyond any pause. */
const TEN_YEARS_IN_SECONDS = 10 * 365 * 24 * 3600
const DAY_IN_SECONDS = 24 * 3600

/**
 * What pg-boss asks besides (where a queue lives, once for each) it asks on the connection of the
 * call: a second one, while the first is held, may never come from a pool that is all in use.
 */
const connectionOfCall = new AsyncLocalStorage<Db>()

export async function startBoss(
  pool: Db,
  supervise: boolean,
  log: { error(error: unknown): void; warn(warning: unknown): void },
): Promise<PgBoss> {
  const boss = new NewPgBoss({
    db: {
      executeSql: (text, values) => (connectionOfCall.getStore() ?? pool).query(text, values),
    },
    schema: JOBS_SCHEMA,
    schedule: false,
    supervise,
    // The sweep that brings the jobs of a killed worker back: with the defaults it takes 15 minutes.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    // Else the rows that failed jobs leave behind are deleted once a day.
    maintenanceIntervalSeconds: 600,
    // A backlog is what a queue is for.
    warningQueueSize: 2 ** 31 - 1,
  })
  boss.on('error', (error) => log.error(error))
  boss.on('warning', (warning) => log.warn(warning))
  try {
    await boss.start()
  } catch (error) {
    await boss.stop({ graceful: false })
    throw error
  }
  return boss
}

/** Makes the queue and its dead-letter queue, or brings both to these settings. */
export async function defineQueue(
  boss: PgBoss,
  db: Db,
  queue: string,
  worker: WorkerSettings,
  options: QueueOptions & { ownTable: boolean },
): Promise<void> {
  const deadLetterQueue = deadLetterQueueOf(queue)
  const retentionSeconds = options.deadLetterRetentionDays * DAY_IN_SECONDS
  const dead = { retentionSeconds, retryLimit: 0 }
  // Twice nothing is nothing, where pg-boss would make a second of it.
  const retryBackoff = worker.retryBackoff && worker.retryDelaySeconds > 0
  const alive = {
    expireInSeconds: options.expireInSeconds,
    retentionSeconds: TEN_YEARS_IN_SECONDS,
    // What has died stands in the dead-letter queue: the row it leaves behind serves nobody.
    deleteAfterSeconds: 60,
    retryLimit: worker.maxAttempts - 1,
    retryDelay: worker.retryDelaySeconds,
    retryBackoff,
    ...(retryBackoff ? { retryDelayMax: worker.retryDelayMaxSeconds } : {}),
    deadLetter: deadLetterQueue,
  }
  await boss.createQueue(deadLetterQueue, dead)
  await boss.updateQueue(deadLetterQueue, dead)
  await boss.createQueue(queue, { ...alive, partition: options.ownTable })
  // `createQueue` leaves a queue that exists as it is.
  await boss.updateQueue(queue, alive)
  await tendTable(db, queue)
}

export async function insertJobs(
  boss: PgBoss,
  db: Db,
  queue: string,
  jobs: NewJob[],
): Promise<void> {
  if (jobs.length === 0) return
  const rows = jobs.map(({ id, data, group, startAfter }) => ({
    id,
    data,
    ...(group === undefined ? {} : { group: { id: group }, singletonKey: group }),
    ...(startAfter === undefined ? {} : { startAfter: startAfter.toISOString() }),
  }))
  await on(db, (options) => boss.insert(queue, rows, options))
}

/** Claims jobs that may start now. `ignoreGroups` are passed over. */
export async function fetchJobs<Data>(
  boss: PgBoss,
  db: Db,
  queue: string,
  { limit, lane, ignoreGroups }: { limit: number; lane: Lane; ignoreGroups: string[] },
): Promise<Job<Data>[]> {
  const slimDb: BossDb = { executeSql: (text, values) => db.query(slim(text), values) }
  const rows = await on(db, () =>
    boss.fetch<Data>(queue, {
      db: slimDb,
      batchSize: limit,
      includeMetadata: true,
      ...(lane === 'fresh' ? { minPriority: PRIORITY.fresh } : { maxPriority: PRIORITY.retry }),
      ...(ignoreGroups.length > 0 ? { ignoreGroups } : {}),
    }),
  )
  return rows.map(asJob)
}

/** pg-boss returns thirty-five columns of a job, eight of them times, to be parsed: we read seven. */
const slim = (fetch: string): string => `
  with fetched as (${fetch})
  select id, data, "retryCount", "retryLimit", "groupId",
         extract(epoch from "createdOn")::float8 * 1000 as "createdOn",
         case when "retryCount" > 0 then output end as output
    from fetched`

/** Deletes jobs that are done. Returns the ids that were still ours to settle. */
export async function removeJobs(boss: PgBoss, db: Db, queue: string, jobs: Job<unknown>[]) {
  if (jobs.length === 0) return []
  return settledOf(await on(db, (options) => boss.deleteJob(queue, jobs, options)))
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
  return settledOf(await on(db, (options) => boss.fail(queue, jobs, output, options)))
}

const settledOf = (response: unknown): string[] =>
  (response as { settled?: string[] | null }).settled ?? []

/** Deletes what waits in the queue; its dead letters stay. */
export async function emptyQueue(boss: PgBoss, queue: string): Promise<void> {
  if (await boss.getQueue(queue)) await boss.deleteQueuedJobs(queue)
}

const on = <T>(db: Db, call: (options: { db: BossDb }) => Promise<T>): Promise<T> =>
  connectionOfCall.run(db, () =>
    call({ db: { executeSql: (text, values) => db.query(text, values) } }),
  )

interface BossDb {
  executeSql(text: string, values?: unknown[]): ReturnType<Db['query']>
}

export type { PgBoss }
