/** Since when a webhook that was disabled has missed events. */
import type { Db } from '@svc/core'

/** How long before its publish the transaction of an event may have begun. */
const LONGEST_TRANSACTION = `interval '5 minutes'`

/**
 * When the oldest transaction on this database began that is open now; '-infinity' where one is open
 * whose begin this role may not see, or that is prepared. Every open transaction holds the lock of its
 * virtual id, and everybody may see locks.
 */
export const OLDEST_TRANSACTION_AT = `
  (select case when bool_or(activity.xact_start is null)
                 or exists (select from pg_prepared_xacts where database = current_database())
               then '-infinity' else min(activity.xact_start) end
     from pg_locks as lock
     join pg_stat_activity as activity on activity.pid = lock.pid
    where lock.locktype = 'virtualxid' and lock.mode = 'ExclusiveLock'
      and activity.datname = current_database())`

/**
 * Since when a webhook that was disabled at that time may have missed events. Transactions that were open
 * then have published events that are older. A host of an older version has noted nothing, or left an
 * earlier value.
 */
export async function missedSince(db: Db, id: string, disabledAt: string): Promise<string> {
  const { rows } = await db.query(
    `select to_json(greatest(created_at, $2::timestamptz - ${LONGEST_TRANSACTION},
                             least(coalesce(missed_since, '-infinity'), $2))) #>> '{}' as since
       from svc."__svc.webhooks.registrations" where id = $1`,
    [id, disabledAt],
  )
  return (rows[0] as { since: string }).since
}
