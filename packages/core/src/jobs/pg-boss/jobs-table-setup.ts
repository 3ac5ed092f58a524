/** Settings, indexes and a trigger for pg-boss's tables of jobs, made once after pg-boss made the tables. */
import { ADVISORY_LOCKS } from '../../postgres/advisory-locks.ts'
import type { Database } from '../../postgres/pools.ts'
import { untilLocked } from '../../migrations/migration-lock.ts'
import { DEAD_LETTER_INDEXES, DROPPED, indexName, INDEXES, SHARED_TABLE } from './contract.ts'
import { assertNoMissingSchema } from '../../migrations/missing-schema.ts'
import { transaction, type Db } from '../../postgres/transaction.ts'

export type TableSetupDatabase = Pick<Database, 'db' | 'pool'>

/** Rows come and go quickly, and the planner needs a fair estimate of how many there are. */
const STORAGE_SETTINGS = {
  autovacuum_vacuum_scale_factor: 0.02,
  autovacuum_vacuum_threshold: 500,
  autovacuum_analyze_scale_factor: 0.05,
  autovacuum_analyze_threshold: 500,
}

/** An index over a large table takes a while, and so does another process that makes it. */
const LONGEST_MS = 10 * 60_000

export const setUpQueueTable = (
  database: TableSetupDatabase,
  queue: string,
  isCheck: boolean,
): Promise<void> =>
  once(
    database,
    isCheck,
    `the index of the queue ${queue}`,
    (db) => isQueueTableSetUp(db, queue),
    (db) => alterQueueTable(db, queue),
  )

/** Sets up dead letters: ids in the order of time, and an index by recipient. */
export const setUpDeadLetters = (database: TableSetupDatabase, isCheck: boolean): Promise<void> =>
  once(database, isCheck, 'the index of dead letters', areDeadLettersSetUp, alterDeadLetters)

/**
 * Creates what does not exist yet. `if not exists` is not enough between processes: where two
 * create one index at once, the second gets an error.
 *
 * Publishes that write into the table wait behind the lock that it takes. A try that does not get it
 * within moments is therefore rolled back and repeated, as those of migrations are.
 */
async function once(
  { db, pool }: TableSetupDatabase,
  isCheck: boolean,
  what: string,
  isDone: (db: Db) => Promise<boolean>,
  alter: (db: Db) => Promise<void>,
): Promise<void> {
  if (await isDone(db)) return
  if (isCheck) assertNoMissingSchema([what], 'pg-boss')
  const giveUpAt = performance.now() + LONGEST_MS
  await untilLocked(
    (lockMs) =>
      transaction(
        pool,
        async (locked) => {
          await locked.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.jobTables})`)
          if (!(await isDone(locked))) await alter(locked)
        },
        { timeoutMs: LONGEST_MS, lockMs },
      ),
    (conflict) => {
      if (performance.now() > giveUpAt) throw conflict
    },
  )
}

interface Unfinished {
  name: string
  /** Whether it is as pg-boss has made it. */
  isNew: boolean
}

export async function unfinishedTableOf(db: Db, queue: string): Promise<Unfinished | undefined> {
  const { rows } = await db.query(
    `select format('svc_jobs.%I', class.relname) as name,
            exists (select from pg_constraint
                     where conrelid = class.oid and conname = any($3::text[])) as "isNew"
       from svc_jobs.queue
       join pg_class as class
         on class.oid = to_regclass('svc_jobs.' || quote_ident(queue.table_name))
      where queue.name = $1 and (class.reloptions is null or exists (
              select from unnest($2::text[]) as prefix
               where not exists (
                 select from pg_indexes
                  where schemaname = 'svc_jobs' and tablename = class.relname
                    and indexname = left(prefix || class.relname, 63))))`,
    [queue, Object.keys(INDEXES), DROPPED.constraints],
  )
  return rows[0]
}

const isQueueTableSetUp = async (db: Db, queue: string): Promise<boolean> =>
  (await unfinishedTableOf(db, queue)) === undefined

async function alterQueueTable(db: Db, queue: string): Promise<void> {
  const table = await unfinishedTableOf(db, queue)
  if (table !== undefined) await alterTable(db, table)
}

export async function alterTable(db: Db, { name: table, isNew }: Unfinished): Promise<void> {
  const settings = Object.entries(STORAGE_SETTINGS).map(([name, value]) => `${name} = ${value}`)
  const bareName = table.replace(/^\w+\./, '').replaceAll('"', '')
  if (isNew) {
    // Dropping a foreign key needs this lock of both tables. Both are taken first, so that no later step can wait.
    await db.query(`lock table ${table}, svc_jobs.queue in access exclusive mode`)
    for (const name of DROPPED.constraints) {
      await db.query(`alter table ${table} drop constraint if exists ${name}`)
    }
    for (const suffix of DROPPED.indexes) {
      await db.query(`drop index if exists svc_jobs."${bareName}${suffix}"`)
    }
  } else await db.query(`lock table ${table} in share row exclusive mode`)
  await db.query(`alter table ${table} set (${settings.join(', ')})`)
  for (const [prefix, definition] of Object.entries(INDEXES)) {
    await db.query(
      `create index if not exists "${indexName(prefix, bareName)}" on ${table} ${definition}`,
    )
  }
  await db.query(`analyze ${table}`)
}

/** The published id of the event of a job, whose data is in `column`: see event-id.ts. */
export const publishedEventIdIn = (column: string): string =>
  `substr(${column} ->> 'eventId', strpos(${column} ->> 'eventId', E'\\x1f') + 1)`

const SHARED_INDEXES = {
  ...DEAD_LETTER_INDEXES,
  // Empty. A plan is made for all tables of jobs: without the order of an index in each of them, it
  // would read and sort all that waits.
  ...Object.fromEntries(
    Object.entries(INDEXES).map(([prefix, its]) => [indexName(prefix, SHARED_TABLE), its]),
  ),
}

export async function areDeadLettersSetUp(db: Db): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from pg_trigger
                     where tgrelid = to_regclass('svc_jobs.job_common') and tgname = 'svc_dead_letter_id')
            and (select bool_and(to_regclass('svc_jobs.' || name) is not null)
                   from unnest($1::text[]) as name)
            as "isDone"`,
    [Object.keys(SHARED_INDEXES)],
  )
  return (rows[0] as { isDone: boolean }).isDone
}

export async function alterDeadLetters(db: Db): Promise<void> {
  await db.query('lock table svc_jobs.job_common in share row exclusive mode')
  for (const [index, definition] of Object.entries(SHARED_INDEXES)) {
    await db.query(`create index if not exists ${index} on svc_jobs.job_common ${definition}`)
  }
  await db.query(
    `create or replace trigger svc_dead_letter_id before insert on svc_jobs.job_common
       for each row when (new.name like '%.dlq')
       execute function svc."__svc.dead_letter_id"()`,
  )
}
