/** The calls of pg-boss, which only this folder imports: jobs, retries, expiry, dead letters. */
import { PgBoss as NewPgBoss } from 'pg-boss'
import { handOver } from '../../migrations/migrations-table.ts'
import { assertNoMissingSchema } from '../../migrations/missing-schema.ts'
import { LONG_STATEMENT_MS, type Database } from '../../postgres/pools.ts'
import { asIs } from '../../postgres/schema-names.ts'
import type { Db } from '../../postgres/transaction.ts'
import {
  assertBossIsMade,
  assertTablesAreAsNeeded,
  JOBS_SCHEMA,
  SCHEMA_VERSION,
} from './boss-tables.ts'
import { deadLetterQueueOf } from '../job.ts'
import { setUpDeadLetters, setUpQueueTable, type TableSetupDatabase } from './jobs-table-setup.ts'
import type { Jobs as PgBoss } from './boss-interface.ts'

/**
 * Settings of all queues, equal in every process, so that no host changes the settings of another by
 * booting. The process that publishes a job writes attempts and delays into it.
 */
export const QUEUE_SETTINGS = {
  retryLimit: 16,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 43_200,
  // The longest that pg-boss accepts. The worker bounds its attempts, and the lease of the process shows
  // that it has died.
  expireInSeconds: 24 * 3600 - 1,
  // pg-boss deletes a waiting job that is older than this, and makes no dead letter of it.
  retentionSeconds: 10 * 365 * 24 * 3600,
  // pg-boss copies a dead job to the dead-letter queue, and the row that is left is of no use.
  deleteAfterSeconds: 60,
}

/** Dead letters are deleted by periodic tasks, see `deleteOldDeadLetters`. */
export const DEAD_LETTER_SETTINGS = { retentionSeconds: 60 * 365 * 24 * 3600, retryLimit: 0 }

export async function startBoss(
  database: Pick<Database, 'db' | 'pool'>,
  /** The option `migrate` is 'check'. */
  isCheck: boolean,
  log: { error(error: unknown): void; warn(warning: unknown): void },
): Promise<PgBoss> {
  const pool = database.db.within(LONG_STATEMENT_MS)
  // `create schema if not exists` needs the right to create even where the schema exists.
  const { rows } = await pool.query(`select to_regnamespace('svc_jobs') is null as is_new`)
  const made = isCheck ? await assertBossIsMade(pool) : 0
  const boss = new NewPgBoss({
    // Its own check refuses tables of a later version, which a process of this one can use.
    migrate: !isCheck || made > SCHEMA_VERSION,
    createSchema: rows[0].is_new,
    db: {
      executeSql: (text, values) => pool.query(asIs(text), values),
    },
    schema: database.pool.names?.jobs ?? JOBS_SCHEMA,
    schedule: false,
    // A periodic task does it: see recover-lost-jobs.ts.
    supervise: false,
    // How often that task counts the jobs of queues: by default once a minute.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    // The default deletes the rows of dead jobs once a day.
    maintenanceIntervalSeconds: 600,
    // No warning about long queues: a backlog is normal.
    warningQueueSize: 2 ** 31 - 1,
  })
  boss.on('error', (error) => log.error(error))
  boss.on('warning', (warning) => log.warn(warning))
  try {
    await boss.start()
    await assertTablesAreAsNeeded(pool)
    if (!isCheck) await handOver(pool)
  } catch (error) {
    await boss.stop({ graceful: false })
    throw error
  }
  return boss
}

export async function isQueue(db: Db, queue: string): Promise<boolean> {
  const { rows } = await db.query(
    'select exists (select from svc_jobs.queue where name = $1) as yes',
    [queue],
  )
  return rows[0].yes
}

/** Creates the queue and its dead-letter queue where they do not exist. */
export async function defineQueue(
  boss: PgBoss,
  database: TableSetupDatabase,
  queue: string,
  { ownTable, isCheck }: { ownTable: boolean; isCheck: boolean },
): Promise<void> {
  if (isCheck && ownTable) assertNoMissingSchema(await missingQueue(database.db, queue), 'pg-boss')
  const deadLetter = deadLetterQueueOf(queue)
  const settings = { ...QUEUE_SETTINGS, deadLetter }
  await createOrUpdate(boss, deadLetter, DEAD_LETTER_SETTINGS, {})
  await createOrUpdate(boss, queue, settings, { partition: ownTable })
  await setUpDeadLetters(database, isCheck)
  if (ownTable) await setUpQueueTable(database, queue, isCheck)
  if (ownTable && !isCheck) await handOver(database.db)
}

/** A queue with its own table needs the right to create tables; other queues are rows. */
const missingQueue = async (db: Db, queue: string): Promise<string[]> =>
  (await isQueue(db, queue)) ? [] : [`the queue ${queue}`]

export async function assertQueueIsMade(
  database: TableSetupDatabase,
  queue: string,
): Promise<void> {
  assertNoMissingSchema(await missingQueue(database.db, queue), 'pg-boss')
  await setUpDeadLetters(database, true)
  await setUpQueueTable(database, queue, true)
}

async function createOrUpdate(
  boss: PgBoss,
  name: string,
  settings: Record<string, unknown>,
  once: { partition?: boolean },
): Promise<void> {
  const found = (await boss.getQueue(name)) as Record<string, unknown> | null
  if (!found) await boss.createQueue(name, { ...settings, ...once })
  // `createQueue` does not change a queue that another process has made.
  const known = found ?? ((await boss.getQueue(name)) as Record<string, unknown> | null) ?? {}
  const isUpToDate = Object.entries(settings).every(([key, value]) => known[key] === value)
  if (!isUpToDate) await boss.updateQueue(name, settings)
}

/** Deletes the waiting jobs of the queue; its dead letters stay. */
export async function emptyQueue(boss: PgBoss, queue: string): Promise<void> {
  if (await boss.getQueue(queue)) await boss.deleteQueuedJobs(queue)
}

export type { PgBoss }
