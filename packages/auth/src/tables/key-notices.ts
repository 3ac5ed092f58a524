/** Keys that expire, have expired or are not used, and what was published of that. */
import type { Db } from '@svc/core/internal'
import type { ApiKey } from '../schemas.ts'
import { COLUMNS, keyOf } from './api-key-row.ts'

/** How many keys a statement marks at most, of each mark. */
export const PORTION = 100

/** A key whose expiry is to be announced. `daysLeft` is 0 if it has expired. */
export interface DueExpiry {
  key: ApiKey
  daysLeft: number
}

/**
 * Marks as announced the keys that expire within `days` of a mark, or have expired (0), and were not announced
 * for it yet. Those that expire within `nearerDays` are left to the notice of that mark. A key that was rotated
 * or disabled is not announced before its end, nor at all where it had ended before its row was made, as it can
 * be with an import. A key whose row is locked is left for the next run: a long transaction of the host would
 * hold up the notices of all keys.
 */
export async function markExpiring(
  db: Db,
  marks: readonly { days: number; nearerDays: number | null }[],
): Promise<DueExpiry[]> {
  const { rows } = await db.query(
    `with due as materialized (
       select due.id, days
         from unnest($1::int[], $2::int[]) as mark (days, nearer_days)
        cross join lateral (
          select id from svc."__svc.auth.api_keys" as keys
           where revoked_at is null and expiry_notice is distinct from 0 and expires_at > created_at
             and expires_at > coalesce(now() + make_interval(days => nearer_days), '-infinity')
             and expires_at <= now() + make_interval(days => days)
             and (days = 0 or enabled and replaced_by is null)
             and coalesce(expiry_notice > days, true)
           order by expires_at limit $3
             for no key update of keys skip locked) as due
     ), marked as (
       update svc."__svc.auth.api_keys" as keys set expiry_notice = days
         from due where keys.id = due.id and coalesce(expiry_notice > days, true)
       returning keys.*
     )
     select ${COLUMNS}, expiry_notice as "daysLeft" from marked order by marked.expires_at`,
    [marks.map(({ days }) => days), marks.map(({ nearerDays }) => nearerDays), PORTION],
  )
  return rows.map(({ daysLeft, ...row }) => ({ key: keyOf(row), daysLeft }))
}

/** The same of keys that were not used for `days`, or were made or imported that long ago and never used. */
export async function markUnused(db: Db, days: number): Promise<ApiKey[]> {
  const { rows } = await db.query(
    `with due as materialized (
       select id from svc."__svc.auth.api_keys" as keys
        where revoked_at is null and enabled and (expires_at is null or expires_at > now())
          and coalesce(last_used_at, imported_at, created_at) < now() - make_interval(days => $1)
          and unused_notice_of is distinct from coalesce(last_used_at, created_at)
        limit $2
          for no key update of keys skip locked
     )
     update svc."__svc.auth.api_keys" as keys set unused_notice_of = coalesce(last_used_at, created_at)
      where id in (select id from due)
        and unused_notice_of is distinct from coalesce(last_used_at, created_at)
     returning ${COLUMNS}`,
    [days, PORTION],
  )
  return rows.map(keyOf)
}

/** A key that ends later than was announced is announced again. */
export async function forgetExpiryNotice(db: Db, id: string): Promise<void> {
  await db.query(`update svc."__svc.auth.api_keys" set expiry_notice = null where id = $1`, [id])
}
