/** Since when a webhook that was disabled has missed events. */
import type { Db } from '@svc/core'

/** How long before its publish the transaction of an event may have begun. */
const LONGEST_TRANSACTION = `interval '5 minutes'`

/**
 * When the oldest transaction on this database began that is open now; '-infinity' where one is open
 * whose begin this role may not see, or that is prepared. Every open transaction holds the lock of its
 * virtual id, and everybody may see locks. A session whose transaction has ended since the locks were read is idle.
 */
const OLDEST_TRANSACTION_AT = `
  (select case when bool_or(activity.xact_start is null and activity.state is distinct from 'idle')
                 or exists (select from pg_prepared_xacts where database = current_database())
               then '-infinity' else min(activity.xact_start) end
     from pg_locks as lock
     join pg_stat_activity as activity on activity.pid = lock.pid
    where lock.locktype = 'virtualxid' and lock.mode = 'ExclusiveLock'
      and activity.datname = current_database()
      and coalesce(activity.backend_type, '') not in ('autovacuum worker', 'walsender'))`

/** What a disabling writes into the column `missed_until_disabled`. */
export const MISSED_UNTIL_DISABLED = `tstzrange(least(now(), ${OLDEST_TRANSACTION_AT}), now(), '[]')`

/** For `advance`. */
export const SHIFTED_BACK = `tstzrange(lower(missed_until_disabled) - make_interval(secs => $1),
  upper(missed_until_disabled) - make_interval(secs => $1), '[]')`

/**
 * Since when a webhook that was disabled at that time may have missed events. Transactions that were open
 * then have published events that are older.
 */
export async function missedSince(db: Db, id: string, disabledAt: string): Promise<string> {
  const { rows } = await db.query(
    `select to_json(greatest(created_at, $2::timestamptz - ${LONGEST_TRANSACTION},
                             case when date_trunc('milliseconds', upper(missed_until_disabled)) = $2
                                  then lower(missed_until_disabled) end)) #>> '{}' as since
       from svc."__svc.webhooks.registrations" where id = $1`,
    [id, disabledAt],
  )
  return (rows[0] as { since: string }).since
}
