/** Keys that expire, have expired or are not used, and the notices that were published of them. */
import type { Db } from '@svc/core/internal'
import { isoOf } from './timestamps.ts'

/** How far back every run looks, for expiries of transactions that were committed late. */
const WATCHED_DAYS = 7
/** How many keys a statement finds at most. */
export const PORTION = 100

/** A key that a notice is due for, and its expiry, by which a later change of it is seen. */
export interface DueKey {
  id: string
  expiresAt: string | null
}

const DUE = `id, ${isoOf('expires_at')} as "expiresAt"`
/**
 * A key whose row is locked is left for the next run: a long transaction of the host would hold up
 * those of all keys, and so many locked keys that they fill a portion would hide the others.
 */
const UNLOCKED = 'for no key update of keys skip locked'

/**
 * The condition for a row of `keys` whose key expires within `days`, was not rotated, and was not
 * announced yet. Keys that expire within `nearerDays` are left to the notice of that mark, which comes in
 * the next run where they are locked. Both are expressions.
 */
const isExpiring = (days: string, nearerDays: string): string =>
  `keys.revoked_at is null and keys.enabled and keys.replaced_by is null
  and keys.expires_at > now() + make_interval(days => ${nearerDays})
  and keys.expires_at <= now() + make_interval(days => ${days})
  and not exists (select from svc."__svc.auth.key_notices"
                   where key_id = keys.id and notice = 'expiring:' || ${days})`

/** At most a portion of them. */
export async function findExpiring(
  db: Db,
  withinDays: number,
  nearerDays: number,
): Promise<DueKey[]> {
  const { rows } = await db.query(
    `select ${DUE} from svc."__svc.auth.api_keys" as keys
      where ${isExpiring('$1', '$3')} order by expires_at limit $2 ${UNLOCKED}`,
    [withinDays, PORTION, nearerDays],
  )
  return rows
}

/** The condition for a row of `keys` whose key has expired and has no notice of it yet. */
const IS_EXPIRED = `keys.revoked_at is null and keys.expires_at <= now()
  and keys.expires_at > least(now() - make_interval(days => $1),
                              (select until from svc."__svc.auth.published_expiries"))
  and not exists (select from svc."__svc.auth.key_notices"
                   where key_id = keys.id and notice = 'expired')`

/**
 * Whether a key is due for a notice of one of the marks, or has expired, or {@link markPublished} has
 * something to write: one statement for what is rarely so.
 */
export async function isAnyDue(
  db: Db,
  marks: readonly { days: number; nearerDays: number }[],
): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (
              select from svc."__svc.auth.api_keys" as keys where ${IS_EXPIRED})
         or exists (
              select from unnest($2::int[], $3::int[]) as mark (days, nearer_days)
               where exists (
                 select from svc."__svc.auth.api_keys" as keys
                  where ${isExpiring('mark.days', 'mark.nearer_days')}))
         or not exists (
              select from svc."__svc.auth.published_expiries"
               where until >= now() - make_interval(days => $1) - interval '1 hour') as "isAny"`,
    [WATCHED_DAYS, marks.map(({ days }) => days), marks.map(({ nearerDays }) => nearerDays)],
  )
  return rows[0].isAny
}

/** Keys that have expired since the expiries before were published, and have no notice yet. */
export async function findExpired(db: Db): Promise<DueKey[]> {
  const { rows } = await db.query(
    `select ${DUE} from svc."__svc.auth.api_keys" as keys
      where ${IS_EXPIRED} order by expires_at limit $2 ${UNLOCKED}`,
    [WATCHED_DAYS, PORTION],
  )
  return rows
}

/** The time before which no expiry is left, once all that are found after this call are published. */
export async function endOfPublished(db: Db): Promise<string> {
  const { rows } = await db.query(`select ${isoOf('now() - make_interval(days => $1)')} as until`, [
    WATCHED_DAYS,
  ])
  return rows[0].until
}

/**
 * All expiries before `until` are published, except those of keys that were locked: the next run looks
 * for them. It is written once an hour at most.
 */
export async function markPublished(db: Db, until: string): Promise<void> {
  await db.query(
    `insert into svc."__svc.auth.published_expiries" as published (until)
     select least($2, min(keys.expires_at) - interval '1 second')
       from svc."__svc.auth.api_keys" as keys where ${IS_EXPIRED} and keys.expires_at <= $2
     on conflict (is_only) do update set until = excluded.until
      where published.until < excluded.until - interval '1 hour'`,
    [WATCHED_DAYS, until],
  )
}

/** An unused key, and the name of its notice, which differs after each use. */
export interface UnusedKey extends DueKey {
  notice: string
}

/** That name: `since` is an expression for when the key was used last, or made. */
export const unusedNotice = (since: string): string =>
  `'unused:' || extract(epoch from ${since})::bigint`

const UNUSED = unusedNotice('coalesce(last_used_at, created_at)')

/** Keys that were not used for `days`, or were made that long ago and never used. */
export async function findUnused(db: Db, days: number): Promise<UnusedKey[]> {
  const { rows } = await db.query(
    `select ${DUE}, ${UNUSED} as notice from svc."__svc.auth.api_keys" as keys
      where revoked_at is null and enabled and (expires_at is null or expires_at > now())
        and coalesce(last_used_at, created_at) < now() - make_interval(days => $1)
        and not exists (select from svc."__svc.auth.key_notices"
                         where key_id = keys.id and notice = ${UNUSED})
      limit $2 ${UNLOCKED}`,
    [days, PORTION],
  )
  return rows
}

/** Returns whether this notice is new. */
export async function insertNotice(db: Db, keyId: string, notice: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into svc."__svc.auth.key_notices" (key_id, notice) values ($1, $2)
     on conflict do nothing`,
    [keyId, notice],
  )
  return rowCount === 1
}

/** A key that ends later than was announced is announced again. */
export async function deleteExpiryNotices(db: Db, keyId: string): Promise<void> {
  await db.query(
    `delete from svc."__svc.auth.key_notices"
      where key_id = $1 and not starts_with(notice, 'unused:')`,
    [keyId],
  )
}

/** Deletes the notices of deleted and revoked keys. */
export async function sweepNotices(db: Db): Promise<void> {
  await db.query(
    `delete from svc."__svc.auth.key_notices" as notices
      where published_at < now() - interval '30 days'
        and not exists (select from svc."__svc.auth.api_keys" as keys
                         where keys.id = notices.key_id and keys.revoked_at is null)`,
  )
}
