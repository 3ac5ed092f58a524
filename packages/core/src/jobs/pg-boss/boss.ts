/** The one door to pg-boss: its jobs, retries, back-off, expiry and dead-letter queues. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { PgBoss as NewPgBoss } from 'pg-boss'
import type { Db } from '../../postgres/transaction.ts'
import type { RetrySettings } from './dead-letters.ts'
import { HEARTBEAT_SECONDS } from './jobs-table.ts'
import { noteParked } from '../groups/groups-table.ts'
import {
  asJob,
  deadLetterQueueOf,
  PRIORITY,
  type Job,
  type JobRow,
  type Lane,
  type NewJob,
} from '../job.ts'
import { setUpDeadLetters, setUpQueueTable } from './jobs-table-setup.ts'
import { parkJobs } from './parked-jobs.ts'
import type { Jobs as PgBoss } from './boss-interface.ts'
import type { WorkerSettings } from '../../options/core-options.ts'

export const JOBS_SCHEMA = 'svc_jobs'

/**
 * The same for every queue and every process: no host that boots changes what the jobs of others
 * live by. Attempts and delays are written into each job by the process that publishes it.
 */
const QUEUE_SETTINGS = {
  retryLimit: 16,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 43_200,
  // The longest that pg-boss takes. An attempt is bounded by whoever makes it, and a process that
  // dies is noticed by its heartbeat.
  expireInSeconds: 24 * 3600 - 1,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  // pg-boss deletes a waiting job that is older than this without dead-lettering it: far beyond any
  // pause.
  retentionSeconds: 10 * 365 * 24 * 3600,
  // What has died stands in the dead-letter queue: the row that it leaves behind serves nothing.
  deleteAfterSeconds: 60,
}

/** How long dead letters are kept is for a sweep of ours, see dead-letters.ts. */
const DEAD_LETTER_SETTINGS = { retentionSeconds: 60 * 365 * 24 * 3600, retryLimit: 0 }

/**
 * What pg-boss asks besides (where a queue lives, once for each) it asks on the connection of the
 * call: a second one, while the first is held, may never come from a pool that is all in use.
 */
const connectionOfCall = new AsyncLocalStorage<Db>()

export async function startBoss(
  pool: Db,
  log: { error(error: unknown): void; warn(warning: unknown): void },
): Promise<PgBoss> {
  // `create schema if not exists` asks for the right to create even where the schema exists.
  const { rows } = await pool.query(`select to_regnamespace('${JOBS_SCHEMA}') is null as is_new`)
  const boss = new NewPgBoss({
    createSchema: rows[0].is_new,
    db: {
      executeSql: (text, values) => (connectionOfCall.getStore() ?? pool).query(text, values),
    },
    schema: JOBS_SCHEMA,
    schedule: false,
    // By a task of ours, which knows whether Postgres has been there long enough.
    supervise: false,
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

/** Whether its schema is there; its own lock guards the changes of later versions. */
export async function isBossInstalled(db: Db): Promise<boolean> {
  const { rows } = await db.query(`select to_regclass('${JOBS_SCHEMA}.version') is not null as yes`)
  return rows[0].yes
}

/** Makes the queue and its dead-letter queue where they are not there; writes nothing else. */
export async function defineQueue(
  boss: PgBoss,
  db: Db,
  queue: string,
  { ownTable }: { ownTable: boolean },
): Promise<void> {
  const deadLetter = deadLetterQueueOf(queue)
  const alive = { ...QUEUE_SETTINGS, deadLetter }
  await bringTo(boss, deadLetter, DEAD_LETTER_SETTINGS, {})
  await bringTo(boss, queue, alive, { partition: ownTable })
  await setUpDeadLetters(db)
  if (ownTable) await setUpQueueTable(db, queue)
}

async function bringTo(
  boss: PgBoss,
  name: string,
  settings: Record<string, unknown>,
  once: { partition?: boolean },
): Promise<void> {
  const found = (await boss.getQueue(name)) as Record<string, unknown> | null
  if (!found) await boss.createQueue(name, { ...settings, ...once })
  // `createQueue` leaves a queue that exists as it is: one of another process, or an older version.
  const known = found ?? ((await boss.getQueue(name)) as Record<string, unknown> | null) ?? {}
  const isAsWanted = Object.entries(settings).every(([key, value]) => known[key] === value)
  if (!isAsWanted) await boss.updateQueue(name, settings)
}

/** Attempts and delays of the jobs that this process publishes. */
export function retrySettingsOf(worker: WorkerSettings): RetrySettings {
  const { maxAttempts, retryDelaySeconds, retryDelayMaxSeconds } = worker
  // Twice nothing is nothing, where pg-boss would make a second of it.
  const retryBackoff = worker.retryBackoff && retryDelaySeconds > 0
  return { maxAttempts, retryDelaySeconds, retryBackoff, retryDelayMaxSeconds }
}

/** What differs from the settings of the queue: most jobs carry nothing of it. */
function retryColumnsOf(retry: RetrySettings) {
  const { retryLimit, retryDelay, retryBackoff, retryDelayMax } = QUEUE_SETTINGS
  return {
    ...(retry.maxAttempts - 1 === retryLimit ? {} : { retryLimit: retry.maxAttempts - 1 }),
    ...(retry.retryDelaySeconds === retryDelay ? {} : { retryDelay: retry.retryDelaySeconds }),
    ...(retry.retryBackoff === retryBackoff ? {} : { retryBackoff: retry.retryBackoff }),
    ...(retry.retryDelayMaxSeconds === retryDelayMax
      ? {}
      : { retryDelayMax: retry.retryDelayMaxSeconds }),
  }
}

/** Jobs that one statement inserts: an event may fan out to a hundred thousand. */
const INSERT_PORTION = 5000

export async function insertJobs(
  boss: PgBoss,
  db: Db,
  queue: string,
  jobs: NewJob[],
  retry: RetrySettings,
): Promise<void> {
  const columns = retryColumnsOf(retry)
  for (let start = 0; start < jobs.length; start += INSERT_PORTION) {
    const rows = jobs.slice(start, start + INSERT_PORTION).map(({ id, data, group }) => ({
      id,
      data,
      ...(group === undefined ? {} : { group: { id: group }, singletonKey: group }),
      ...columns,
    }))
    await on(db, (options) => boss.insert(queue, rows, options))
  }
  // pg-boss keeps this column to itself.
  const parked = jobs.filter((job) => job.parked)
  await parkJobs(
    db,
    queue,
    parked.map(({ id }) => id),
  )
  await noteParked(db, queue, [...new Set(parked.flatMap(({ group }) => group ?? []))].toSorted())
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
  return rows.map((row) => asJob(row as unknown as JobRow<Data>))
}

/** pg-boss returns thirty-five columns of a job, eight of them times, to be parsed: we read eight. */
const slim = (fetch: string): string => `
  with fetched as (${fetch})
  select id, data, "retryCount", "retryLimit", "groupId",
         extract(epoch from "createdOn")::float8 * 1000 as "createdOn",
         "startedOn"::text as "startedOn",
         case when "retryCount" > 0 then output end as output
    from fetched`

/** Deletes jobs that are done. Returns the ids that were still ours to settle. */
export async function removeJobs(boss: PgBoss, db: Db, queue: string, jobs: Job[]) {
  if (jobs.length === 0) return []
  return settledOf(await on(db, (options) => boss.deleteJob(queue, jobs, options)))
}

/** One failed attempt each: a retry after pg-boss's back-off, or the dead-letter queue. */
export async function failJobs(boss: PgBoss, db: Db, queue: string, jobs: Job[], output: object) {
  if (jobs.length === 0) return []
  return settledOf(await on(db, (options) => boss.fail(queue, jobs, output, options)))
}

const settledOf = (response: unknown): string[] =>
  (response as { settled?: string[] | null }).settled ?? []

/** Brings the jobs of processes that died back, and deletes what has had its time. */
export const supervise = (boss: PgBoss): Promise<void> => boss.supervise()

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
