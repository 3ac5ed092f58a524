/** Settings, indexes and a trigger for pg-boss's tables of jobs, made once after pg-boss made the tables. */
import type { Db } from '../../postgres/transaction.ts'

/** Rows come and go quickly, and the planner needs a fair estimate of how many there are. */
const STORAGE_SETTINGS = {
  autovacuum_vacuum_scale_factor: 0.02,
  autovacuum_vacuum_threshold: 500,
  autovacuum_analyze_scale_factor: 0.05,
  autovacuum_analyze_threshold: 500,
}

/** Dead letters of all queues are in this table, see `partition` of pg-boss's `createQueue`. */
const SHARED_TABLE = 'svc_jobs.job_common'

/**
 * For a queue with a table of its own: autovacuum settings, and the index of parked jobs. The index
 * is partial, so that other jobs do not pay for it.
 */
export async function setUpQueueTable(db: Db, queue: string): Promise<void> {
  const { rows } = await db.query(
    `select class.oid::regclass::text as name
       from svc_jobs.queue
       join pg_class as class
         on class.oid = to_regclass('svc_jobs.' || quote_ident(queue.table_name))
      where queue.name = $1 and (class.reloptions is null or not exists (
              select from pg_indexes
               where schemaname = 'svc_jobs' and tablename = class.relname
                 and indexname = left('svc_parked_' || class.relname, 63)))`,
    [queue],
  )
  const [table] = rows as { name: string }[]
  if (!table) return
  const settings = Object.entries(STORAGE_SETTINGS).map(([name, value]) => `${name} = ${value}`)
  const bareName = table.name.replace(/^svc_jobs\./, '').replaceAll('"', '')
  // Postgres cuts longer names off.
  const index = `svc_parked_${bareName}`.slice(0, 63)
  await db.query(`alter table ${table.name} set (${settings.join(', ')})`)
  await db.query(
    `create index if not exists "${index}" on ${table.name} (singleton_key, start_after)
      where blocked and state < 'active'`,
  )
  await db.query(`analyze ${table.name}`)
}

/** For dead letters: ids in the order of time, and an index by group. */
export async function setUpDeadLetters(db: Db): Promise<void> {
  const { rows } = await db.query(
    `select exists (select from pg_trigger
                     where tgrelid = to_regclass('${SHARED_TABLE}') and tgname = 'svc_dead_letter_id')
            as "isDone"`,
  )
  if ((rows[0] as { isDone: boolean }).isDone) return
  await db.query(
    `create index if not exists svc_dead_letters on ${SHARED_TABLE} (name, singleton_key, id)
      where name like '%.dlq'`,
  )
  await db.query(
    `update ${SHARED_TABLE}
        set id = overlay(id::text placing left(svc."__svc.first_uuid"(created_on)::text, 13) from 1 for 13)::uuid
      where name like '%.dlq'`,
  )
  await db.query(
    `create or replace trigger svc_dead_letter_id before insert on ${SHARED_TABLE}
       for each row when (new.name like '%.dlq')
       execute function svc."__svc.dead_letter_id"()`,
  )
}
