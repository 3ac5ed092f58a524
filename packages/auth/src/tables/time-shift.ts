/** Moves the stored times into the past, for `advance` of the testing kit. */
import type { Db } from '@svc/core/internal'

const BACK = 'make_interval(secs => $1)'

const STATEMENTS = [
  // The last use and the creation are moved as well: they decide for how many days a key was not
  // used. An unused key stays announced.
  `update svc."__svc.auth.api_keys" set expires_at = expires_at - ${BACK},
          created_at = created_at - ${BACK}, last_used_at = last_used_at - ${BACK},
          imported_at = imported_at - ${BACK},
          unused_notice_of = unused_notice_of - ${BACK}`,
  `update svc."__svc.auth.windows" set
     granted_at = array(select at - $1 * 1000 from unnest(granted_at) with ordinality as given (at, n) order by n),
     held_until = array(select at - $1 * 1000 from unnest(held_until) with ordinality as given (at, n) order by n)`,
  // New transactions: processes read the changes of these rows by them.
  `update svc."__svc.auth.failing_prefixes" set expires_at = expires_at - ${BACK},
          changed_in = pg_current_xact_id()`,
  // What counts as a failure in the window; the row's own expiry is that of every entry.
  `update svc."__svc.kv" set value = jsonb_build_object('failures', (
            select coalesce(jsonb_agg(failure::float8 - $1), '[]')
              from jsonb_array_elements(value -> 'failures') as failure))
    where starts_with(key, '__svc.auth.failures/') and value ? 'failures'`,
]

export async function shiftTimes(db: Db, seconds: number, alreadySeconds: number): Promise<void> {
  for (const text of STATEMENTS) await db.query(text.replaceAll('$1', '$1::float8'), [seconds])
  // A period begins by the calendar: it is over where the time that has passed leads into the next.
  await db.query(
    `delete from svc."__svc.auth.quotas"
      where period <> 'total'
        and date_trunc(period, now() + make_interval(secs => $2::float8), 'utc')
            < date_trunc(period, now() + make_interval(secs => $1::float8 + $2::float8), 'utc')`,
    [seconds, alreadySeconds],
  )
}
