/**
 * Failed attempts per key prefix. The key-value store has the times of the last ones, or the block
 * that they led to. Each statement decides under the lock of that row and by the clock of Postgres,
 * so that all processes count together. The same transaction writes the result to
 * "__svc.auth.failing_prefixes", which processes poll.
 */
import type { Db } from '@svc/core/internal'
import { deleteInPortions } from './portions.ts'

/**
 * When a key prefix is blocked: a lockout after failed attempts, and no limit of the rate of requests.
 *
 * @example
 * const rateLimit: RateLimit = { maxAttempts: 10, windowMs: 60_000, blockDurationMs: 60_000 }
 */
export interface RateLimit {
  /** Failed attempts within the window that block the prefix, 1 to 10000. */
  maxAttempts: number
  /** Length of the sliding window in which failed attempts count, in milliseconds. */
  windowMs: number
  /** Duration of the block, in milliseconds. */
  blockDurationMs: number
}

export interface PrefixRecord {
  prefix: string
  /** How long it is still blocked; 0 where it has failures and no block. */
  blockedForMs: number
}

const keyOf = (prefix: string): string => `__svc.auth.failures/${prefix}`

const BLOCKED_FOR_MS = `case when is_blocked
  then extract(epoch from expires_at - clock_timestamp())::float8 * 1000 else 0 end as "blockedForMs"`

/**
 * Counts one failure. Where the prefix is blocked already, nothing is counted.
 *
 * @param attempt an id of this attempt: the attempt that led to the block is recognised by it
 */
export async function countFailure(
  db: Db,
  prefix: string,
  attempt: string,
  limit: RateLimit,
): Promise<{ isCounted: boolean; blockedForMs: number }> {
  const { rows } = await db.query(
    `with counted as (
       insert into svc."__svc.kv" as kv (key, value, expires_at)
       select $1::text,
              case when $3::int > 1 then jsonb_build_object('failures', jsonb_build_array(now))
                   else jsonb_build_object('blockedBy', $2::text) end,
              to_timestamp(now + case when $3::int > 1 then $4::float8 else $5::float8 end)
         from (select extract(epoch from clock_timestamp())::float8 as now) as clock
       on conflict (key) do update set (value, expires_at) = (
         select case when is_blocked then kv.value
                     when count(failure) + 1 < $3::int then jsonb_build_object('failures',
                       coalesce(jsonb_agg(failure) filter (where failure is not null), '[]') || to_jsonb(now))
                     else jsonb_build_object('blockedBy', $2::text) end,
                case when is_blocked then kv.expires_at
                     when count(failure) + 1 < $3::int then to_timestamp(now + $4::float8)
                     else to_timestamp(now + $5::float8) end
           from (select extract(epoch from clock_timestamp())::float8 as now,
                        kv.value ? 'blockedBy' and kv.expires_at > clock_timestamp() as is_blocked
                ) as moment
           left join lateral jsonb_array_elements(kv.value -> 'failures') as failure
             on failure::float8 > now - $4::float8
          group by now, is_blocked)
       returning coalesce(value ->> 'blockedBy' = $2::text, true) as is_counted,
                 value ? 'blockedBy' as is_blocked, expires_at
     ), told as (
       insert into svc."__svc.auth.failing_prefixes" (prefix, is_blocked, expires_at, changed_in)
       select $6::text, is_blocked, expires_at, pg_current_xact_id() from counted where is_counted
       on conflict (prefix) do update set is_blocked = excluded.is_blocked,
         expires_at = excluded.expires_at, changed_in = excluded.changed_in
     )
     select is_counted as "isCounted", ${BLOCKED_FOR_MS} from counted`,
    [
      keyOf(prefix),
      attempt,
      limit.maxAttempts,
      limit.windowMs / 1000,
      limit.blockDurationMs / 1000,
      prefix,
    ],
  )
  return rows[0]
}

/** The prefixes that have failures or a block. */
export async function findFailures(
  db: Db,
  prefixes: readonly string[],
): Promise<Map<string, PrefixRecord>> {
  const { rows } = await db.query(
    `select prefix, ${BLOCKED_FOR_MS}
       from svc."__svc.auth.failing_prefixes"
      where prefix = any($1::text[]) and expires_at > clock_timestamp()`,
    [prefixes],
  )
  return new Map(rows.map((row: PrefixRecord) => [row.prefix, row]))
}

/** The changes that were committed since a snapshot. */
export interface FailureChanges {
  /** The snapshot of this reading, for the next one. */
  snapshot: string
  /** Whether the database is in a state before the given snapshot, as after a restore. */
  isRestored: boolean
  records: PrefixRecord[]
}

/** `since` is `null`: no record is read, and the first snapshot is returned. */
export async function findFailureChanges(db: Db, since: string | null): Promise<FailureChanges> {
  const { rows } = await db.query(
    // The transaction of a row may have begun before the snapshot. The lower bound is for the index.
    `select snapshot::text, snapshot_xmax < pg_snapshot_xmax($1::pg_snapshot) as "isRestored",
            prefix, ${BLOCKED_FOR_MS}
       from (select pg_current_snapshot() as snapshot,
                    pg_snapshot_xmax(pg_current_snapshot()) as snapshot_xmax) as moment
       left join svc."__svc.auth.failing_prefixes"
         on changed_in >= pg_snapshot_xmin($1::pg_snapshot)
        and not pg_visible_in_snapshot(changed_in, $1::pg_snapshot)
        and expires_at > clock_timestamp()`,
    [since],
  )
  const { snapshot, isRestored } = rows[0]
  return {
    snapshot,
    isRestored: isRestored ?? false,
    records: rows.filter((row) => row.prefix !== null),
  }
}

/**
 * Deletes the failures of a prefix; a block stays.
 *
 * @returns for how long the prefix is blocked, in milliseconds; 0 without a block
 */
export async function forgetFailures(db: Db, prefix: string): Promise<number> {
  const { rows } = await db.query(
    `with forgotten as (
       delete from svc."__svc.kv"
        where key = $1 and (not value ? 'blockedBy' or expires_at <= clock_timestamp())
       returning key
     ), told as (
       delete from svc."__svc.auth.failing_prefixes"
        where prefix = $2 and exists (select from forgotten)
     )
     select ${BLOCKED_FOR_MS} from svc."__svc.auth.failing_prefixes"
      where prefix = $2 and is_blocked and expires_at > clock_timestamp()`,
    [keyOf(prefix), prefix],
  )
  return rows[0]?.blockedForMs ?? 0
}

/** Deletes expired rows. */
export async function sweepFailures(db: Db, stopping?: AbortSignal): Promise<void> {
  const expired = `
    with expired as materialized (
      select prefix from svc."__svc.auth.failing_prefixes"
       where expires_at <= now() limit $1 for update skip locked)
    delete from svc."__svc.auth.failing_prefixes" as failing
     using expired where failing.prefix = expired.prefix`
  await deleteInPortions(db, expired, [], stopping)
}
