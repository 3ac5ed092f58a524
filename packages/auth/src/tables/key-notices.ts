/** Keys that expire, have expired or are not used, and what was published of that. */
import type { Db } from '@svc/core/internal'
import { isoOf } from './timestamps.ts'

/** How many keys a statement finds at most. */
export const PORTION = 100

/** A key that a notice is due for, and its expiry, by which a later change of it is seen. */
export interface DueKey {
  id: string
  expiresAt: string | null
}

/** Whether a key is due for a notice of one of the marks, or has expired: one statement for what is rarely so. */
export async function isAnyDue(
  db: Db,
  marks: readonly { days: number; nearerDays: number }[],
): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (
              select from svc."__svc.auth.api_keys" as keys
               where revoked_at is null and expiry_notice is distinct from 0
                 and expires_at > created_at and expires_at <= now())
         or exists (
              select from unnest($1::int[], $2::int[]) as mark (days, nearer_days)
               where exists (
                 select from svc."__svc.auth.api_keys" as keys
                  where revoked_at is null and expiry_notice is distinct from 0
                    and expires_at > created_at and expires_at > now() + make_interval(days => nearer_days)
                    and expires_at <= now() + make_interval(days => days)
                    and enabled and replaced_by is null
                    and coalesce(expiry_notice > days, true))) as "isAny"`,
    [marks.map(({ days }) => days), marks.map(({ nearerDays }) => nearerDays)],
  )
  return rows[0].isAny
}

/**
 * Keys that expire within `days`, were not rotated, and were not announced yet. Those that expire within
 * `nearerDays` are left to the notice of that mark. A key whose row is locked is left for the next run: a
 * long transaction of the host would hold up the notices of all keys.
 */
export async function findExpiring(db: Db, days: number, nearerDays: number): Promise<DueKey[]> {
  const { rows } = await db.query(
    `select id, ${isoOf('expires_at')} as "expiresAt" from svc."__svc.auth.api_keys" as keys
      where revoked_at is null and expiry_notice is distinct from 0
        and expires_at > created_at and expires_at > now() + make_interval(days => $2)
        and expires_at <= now() + make_interval(days => $1)
        and enabled and replaced_by is null
        and coalesce(expiry_notice > $1, true)
      order by expires_at limit $3
        for no key update of keys skip locked`,
    [days, nearerDays, PORTION],
  )
  return rows
}

/**
 * Keys that have expired and whose expiry is not published yet; for locked rows see {@link findExpiring}. The
 * expiry of a key is not published if it was before the row was made, as it can be with an import.
 */
export async function findExpired(db: Db): Promise<DueKey[]> {
  const { rows } = await db.query(
    `select id, ${isoOf('expires_at')} as "expiresAt" from svc."__svc.auth.api_keys" as keys
      where revoked_at is null and expiry_notice is distinct from 0
        and expires_at > created_at and expires_at <= now()
      order by expires_at limit $1
        for no key update of keys skip locked`,
    [PORTION],
  )
  return rows
}

/** Keys that were not used for `days`, or were made or imported that long ago and never used. */
export async function findUnused(db: Db, days: number): Promise<DueKey[]> {
  const { rows } = await db.query(
    `select id, ${isoOf('expires_at')} as "expiresAt" from svc."__svc.auth.api_keys" as keys
      where revoked_at is null and enabled and (expires_at is null or expires_at > now())
        and coalesce(last_used_at, imported_at, created_at) < now() - make_interval(days => $1)
        and unused_notice_of is distinct from coalesce(last_used_at, created_at)
      limit $2
        for no key update of keys skip locked`,
    [days, PORTION],
  )
  return rows
}

/** `daysLeft`: 0 for a key that has expired. Returns whether this notice is new. */
export async function markExpiryNotice(db: Db, id: string, daysLeft: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update svc."__svc.auth.api_keys" set expiry_notice = $2
      where id = $1 and coalesce(expiry_notice > $2, true)`,
    [id, daysLeft],
  )
  return rowCount === 1
}

/** A key that ends later than was announced is announced again. */
export async function forgetExpiryNotice(db: Db, id: string): Promise<void> {
  await db.query(`update svc."__svc.auth.api_keys" set expiry_notice = null where id = $1`, [id])
}

/** Returns whether this notice is new. */
export async function markUnusedNotice(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update svc."__svc.auth.api_keys" set unused_notice_of = coalesce(last_used_at, created_at)
      where id = $1 and unused_notice_of is distinct from coalesce(last_used_at, created_at)`,
    [id],
  )
  return rowCount === 1
}
