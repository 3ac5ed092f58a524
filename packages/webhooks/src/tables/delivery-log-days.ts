/** The partitions of the table of delivery attempts, one for each day, and deletions from it. */
import type { Db } from '@svc/core'
import { ADVISORY_LOCKS, longestDays } from '@svc/core/internal'
import { firstIdOf, type LogSpan } from './log-spans.ts'

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

/** For how long something is kept: the longest setting of all processes, also of those that ended within the last day. */
export const keptDays = async (db: Db, setting: string, own: number): Promise<number> =>
  Math.max(own, await longestDays(db, setting, DAY_IN_SECONDS))

/**
 * Drops partitions of the days before the last `days`, or more if another process keeps its log for longer, some at a
 * time. In a transaction. Returns whether there may be more.
 */
export async function dropLogDays(db: Db, days: number): Promise<boolean> {
  await db.query(LOCK_TIMEOUT)
  const { rows } = await db.query('select svc."__svc.webhooks.drop_log_days"($1) as dropped', [
    await keptDays(db, 'deliveryLogRetentionDays', days),
  ])
  return rows[0].dropped > 0
}

interface Range extends LogSpan {
  /** Pages of its partition. */
  pages: number
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * The days that have rows, and what lies between them, whose rows are in the rest. A role may have rights on
 * the parent alone: a statement names that, and is about the rows of one of these ranges, so that it
 * touches one partition.
 */
async function rangesOf(db: Db): Promise<Range[]> {
  const { rows } = await db.query(
    `select substring(relname from '[.]([0-9]{4}-[0-9]{2}-[0-9]{2})$') as day,
            (pg_relation_size(inhrelid) / current_setting('block_size')::int)::float8 as pages
       from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass order by 1 nulls last`,
  )
  const partitions = rows as { day: string | null; pages: number }[]
  const ofRest = partitions.find(({ day }) => day === null)?.pages ?? 0
  const ranges: Range[] = []
  let before = firstIdOf(0)
  for (const { day, pages } of partitions) {
    if (day === null) continue
    const startMs = Date.parse(`${day}T00:00:00Z`)
    const [first, end] = [firstIdOf(startMs), firstIdOf(startMs + DAY_IN_SECONDS * 1000)]
    ranges.push({ first: before, end: first, pages: ofRest }, { first, end, pages })
    before = end
  }
  ranges.push({ first: before, end: LAST_ID, pages: ofRest })
  return ranges.filter(({ first, end, pages }) => pages > 0 && first < end)
}

const OLD_PORTION = 5000

/** Deletes the rows that `dropLogDays` would drop, in portions: for a role that may drop no partition. */
export async function deleteOldLogRows(
  db: Db,
  days: number,
  stopping?: AbortSignal,
): Promise<void> {
  const kept = await keptDays(db, 'deliveryLogRetentionDays', days)
  const keptMs = Date.now() - kept * DAY_IN_SECONDS * 1000
  const oldest = firstIdOf(keptMs - (keptMs % (DAY_IN_SECONDS * 1000)))
  for (const { first, end } of await rangesOf(db)) {
    if (first >= oldest || stopping?.aborted) break
    const last = end < oldest ? end : oldest
    for (
      let rowCount: number | null | undefined = OLD_PORTION;
      rowCount === OLD_PORTION && !stopping?.aborted;
    ) {
      const deleted = await db.query(
        `delete from svc."__svc.webhooks.delivery_log"
          where id >= $1 and id < $2
            and id = any(array(select id from svc."__svc.webhooks.delivery_log"
                                where id >= $1 and id < $2 limit $3))`,
        [first, last, OLD_PORTION],
      )
      rowCount = deleted.rowCount
    }
  }
}

/** Pages of 8 KiB that one statement reads. */
const ERASED_PAGES = 250

/**
 * Deletes the rows of a tenant: those of these webhooks, those of events whose ids begin with
 * `eventIdPrefix`, and those that name the tenant. Of a webhook that was deleted long ago the id may not be
 * known. Rows are never changed, so that one scan of the pages of each day finds them. Returns how many.
 */
export async function eraseLogRows(
  db: Db,
  tenant: string,
  webhookIds: readonly string[],
  eventIdPrefix: string,
): Promise<number> {
  let erased = 0
  for (const { first, end, pages } of await rangesOf(db)) {
    for (let page = 0; page < pages; page += ERASED_PAGES) {
      const { rowCount } = await db.query(
        `delete from svc."__svc.webhooks.delivery_log"
          where ctid >= $1::tid and ctid < $2::tid and id >= $6 and id < $7
            and (tenant = $5 or webhook_id = any($3::uuid[]) or starts_with(event_id, $4))`,
        [
          `(${page},0)`,
          `(${page + ERASED_PAGES},0)`,
          webhookIds,
          eventIdPrefix,
          tenant,
          first,
          end,
        ],
      )
      erased += rowCount ?? 0
    }
  }
  return erased
}
