/** The partitions of the table of delivery attempts, one for each day, and deletions from it. */
import type { Db } from '@svc/core'
import { ADVISORY_LOCKS, longestDays } from '@svc/core/internal'

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
export async function deleteOldLogRows(
  db: Db,
  days: number,
  stopping?: AbortSignal,
): Promise<void> {
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
    if ((rowCount ?? 0) < OLD_PORTION || stopping?.aborted) return
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
