/** The table of delivery attempts. */
import type { Db } from '@svc/core'
import {
  ADVISORY_LOCKS,
  FIRST_PARAMETER,
  JOB_IDS,
  longestDays,
  retainedValues,
  retainingEvents,
  type EventKey,
  type InsertCompleted,
} from '@svc/core/internal'
import type { DeliveryAttempt } from '../delivery-schemas.ts'

/** An attempt as it is stored. */
export interface LogRow extends Omit<DeliveryAttempt, 'payload'> {
  /** JSON text; null where the event holds it. */
  payload: string | null
  /**
   * The time from the publish to the first attempt, in milliseconds: for the statistics, not in the
   * log.
   */
  firstAttemptMs?: number
}

/** The columns that an attempt fills, with their types. */
const INSERTED = {
  id: 'uuid',
  webhook_id: 'uuid',
  event: 'text',
  event_id: 'text',
  payload: 'text',
  delivery_id: 'uuid',
  attempt: 'integer',
  status: 'text',
  status_code: 'smallint',
  error: 'text',
  duration_ms: 'integer',
  response_body: 'text',
  attempted_at: 'timestamptz',
  next_attempt_at: 'timestamptz',
  url: 'text',
}
const NAMES = Object.keys(INSERTED).join(', ')
const GIVEN = NAMES.replaceAll(/\b(\w+)/g, 'attempt.$1')

/** The tenant of the webhook of `attempt`. That of a deleted one is kept while rows may follow. */
const TENANT = `coalesce(
  (select tenant from svc."__svc.webhooks.registrations" where id = attempt.webhook_id),
  (select tenant from svc."__svc.webhooks.deleted_webhooks" where id = attempt.webhook_id))`

/** The columns of {@link columnsOf}: those of the log, and what only the statistics are given. */
const COLUMNS = { ...INSERTED, first_attempt_ms: 'integer' }

/** The rows of {@link columnsOf}, which begin with the parameter `$first`, numbered as `n`. */
const rowsFrom = (first: number): string => {
  const types = Object.values(COLUMNS)
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`)
  return `unnest(${arrays.join(', ')}) with ordinality as attempt (${Object.keys(COLUMNS).join(', ')}, n)`
}

/** Writes the rows `written` into the log, and what the statistics count of them. */
const INSERT_WRITTEN = `, logged as (
    insert into svc."__svc.webhooks.delivery_log" (${NAMES}, tenant)
    select ${NAMES}, tenant from written
  )
  insert into svc."__svc.webhooks.recent_attempts"
    (at, webhook_id, tenant, event, status, duration_ms, first_attempt_ms)
  select attempted_at, webhook_id, tenant, event, status, duration_ms, first_attempt_ms
    from written`

export async function insertLogRows(db: Db, rows: LogRow[]): Promise<void> {
  if (rows.length === 0) return
  await db.query(
    `with written as materialized (
       select ${GIVEN}, attempt.first_attempt_ms, ${TENANT} as tenant from ${rowsFrom(1)}
     ) ${INSERT_WRITTEN}`,
    columnsOf(rows),
  )
}

/**
 * Inserts rows as a part of the statement that settles their jobs, one for each row: see
 * `recordCompleted`. It keeps `older` events for `days`, see `retainEvents`; for a single row it cannot.
 */
export function insertOfCompleted(
  rows: LogRow[],
  older: EventKey[],
  days: number,
): InsertCompleted | null {
  const values = columnsOf(rows)
  if (older.length === 0) {
    return rows.length === 1
      ? { insert: INSERT_OF_COMPLETED_ONE, values: values.flat() }
      : { insert: INSERT_OF_COMPLETED, values }
  }
  if (rows.length === 1) return null
  const retained = retainingEvents(FIRST_PARAMETER + values.length)
  const insert = `, retained as (${retained}) ${INSERT_OF_COMPLETED}`
  return { insert, values: [...values, ...retainedValues(older, days)] }
}

const INSERT_OF_COMPLETED = `, written as materialized (
    select ${GIVEN}, attempt.first_attempt_ms, ${TENANT} as tenant from ${rowsFrom(FIRST_PARAMETER)}
      join unnest(${JOB_IDS}::uuid[]) with ordinality as job (id, n) using (n)
      join completed on completed.id = job.id
  ) ${INSERT_WRITTEN}`

/** The statement for a single job, which needs no arrays. */
const INSERT_OF_COMPLETED_ONE = `, attempt as materialized (
    select ${Object.entries(COLUMNS)
      .map(([name, type], index) => `$${FIRST_PARAMETER + index}::${type} as ${name}`)
      .join(', ')}
      from completed
  ), written as materialized (
    select ${GIVEN}, attempt.first_attempt_ms, ${TENANT} as tenant from attempt
  ) ${INSERT_WRITTEN}`

const columnsOf = (rows: LogRow[]): unknown[][] => [
  rows.map(({ id }) => id),
  rows.map(({ webhookId }) => webhookId),
  rows.map(({ event }) => event),
  rows.map(({ eventId }) => eventId),
  rows.map(({ payload }) => payload),
  rows.map(({ deliveryId }) => deliveryId),
  rows.map(({ attempt }) => attempt),
  rows.map(({ status }) => status),
  rows.map(({ statusCode }) => statusCode),
  rows.map(({ error }) => error),
  rows.map(({ durationMs }) => durationMs),
  rows.map(({ responseBody }) => responseBody),
  rows.map(({ attemptedAt }) => attemptedAt),
  rows.map(({ nextAttemptAt }) => nextAttemptAt),
  rows.map(({ url }) => url ?? null),
  rows.map(({ firstAttemptMs }) => firstAttemptMs ?? null),
]

/** The last attempt of a webhook that has failed. */
export type LastFailure = Pick<LogRow, 'webhookId' | 'error' | 'statusCode' | 'attemptedAt'>

/** The last failure of each of these webhooks; none where the log has none. */
export async function findLastFailures(db: Db, webhookIds: string[]): Promise<LastFailure[]> {
  const { rows } = await db.query(
    `select wanted.id as "webhookId", failure.error, failure.status_code as "statusCode",
            failure.attempted_at as "attemptedAt"
       from unnest($1::uuid[]) as wanted (id)
      cross join lateral (
        select error, status_code, attempted_at from svc."__svc.webhooks.delivery_log"
         where webhook_id = wanted.id and status <> 'delivered'
           and error is not null and error <> 'proxy' and url is null
         order by id desc limit 1) as failure`,
    [webhookIds],
  )
  return rows.map((row: LastFailure) => ({
    ...row,
    attemptedAt: new Date(row.attemptedAt).toISOString(),
  }))
}

/** Takes an advisory lock until the transaction ends: one process at a time. */
export async function lockLog(db: Db): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.deliveryLogMaintenance})`)
}

/** How many days ahead partitions are made: for so long the hourly task may fail without effect. */
const DAYS_AHEAD = 3
/** Dropping a partition blocks every insert while it waits for its lock: it gives up and is tried again. */
const LOCK_TIMEOUT = `set local lock_timeout = '2s'`

/** Makes the partitions of today and of the next days. In a transaction. */
export async function makeLogDays(db: Db): Promise<void> {
  await db.query(LOCK_TIMEOUT)
  await db.query('select svc."__svc.webhooks.make_log_days"($1)', [DAYS_AHEAD])
}

const DAY_IN_SECONDS = 24 * 3600

/**
 * Drops the partitions of the days before the last `days`. The longest setting of all processes
 * counts, also that of a process that ended within the last day. In a transaction.
 */
export async function dropLogDays(db: Db, days: number): Promise<void> {
  await db.query(LOCK_TIMEOUT)
  const longest = await longestDays(db, 'deliveryLogRetentionDays', DAY_IN_SECONDS)
  await db.query('select svc."__svc.webhooks.drop_log_days"($1)', [Math.max(days, longest)])
}

const OLD_PORTION = 5000

/** Deletes the rows that `dropLogDays` would drop, in portions: for a role that may drop no partition. */
export async function deleteOldLogRows(db: Db, days: number): Promise<void> {
  const longest = await longestDays(db, 'deliveryLogRetentionDays', DAY_IN_SECONDS)
  for (;;) {
    const { rowCount } = await db.query(
      `delete from svc."__svc.webhooks.delivery_log"
        where id = any(array(
          select id from svc."__svc.webhooks.delivery_log"
           where id < svc."__svc.webhooks.first_id"((now() at time zone 'utc')::date - $1::int)
           limit $2))
          and id < svc."__svc.webhooks.first_id"((now() at time zone 'utc')::date - $1::int)`,
      [Math.max(days, longest), OLD_PORTION],
    )
    if ((rowCount ?? 0) < OLD_PORTION) return
  }
}

/** Pages of 8 KiB that one statement reads of each day's partition. */
const ERASED_PAGES = 250

/**
 * Deletes the rows of a tenant: those of these webhooks, those of events whose ids begin with
 * `eventIdPrefix`, and those that name the tenant. Rows of older versions do not name it, and of a webhook
 * that was deleted long ago the id may not be known.
 * Rows are never changed, so that one scan of the pages of all days finds them. Returns how many.
 */
export async function eraseLogRows(
  db: Db,
  tenant: string,
  webhookIds: readonly string[],
  eventIdPrefix: string,
): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(max(pg_relation_size(inhrelid)), 0)::float8
              / current_setting('block_size')::int as pages
       from pg_inherits where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass`,
  )
  const { pages } = rows[0] as { pages: number }
  let erased = 0
  for (let page = 0; page < pages; page += ERASED_PAGES) {
    const { rowCount } = await db.query(
      `delete from svc."__svc.webhooks.delivery_log"
        where ctid >= $1::tid and ctid < $2::tid
          and (tenant = $5 or webhook_id = any($3::uuid[]) or starts_with(event_id, $4))`,
      [`(${page},0)`, `(${page + ERASED_PAGES},0)`, webhookIds, eventIdPrefix, tenant],
    )
    erased += rowCount ?? 0
  }
  return erased
}
