/**
 * Failed attempts per key prefix: a row has the times of the last ones, or the block that they led to. Each
 * statement decides under the lock of that row and by the clock of Postgres, so that all processes count
 * together. Processes poll for the rows that have changed.
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

const BLOCKED_FOR_MS = `case when blocked_by is null then 0
  else extract(epoch from expires_at - clock_timestamp())::float8 * 1000 end as "blockedForMs"`

/**
 * Counts one failure. Where the prefix is blocked already, nothing is counted.
 *
 * @param attempt the UUID of this attempt: the attempt that led to the block is recognised by it
 */
export async function countFailure(
  db: Db,
  prefix: string,
  attempt: string,
  { maxAttempts, windowMs, blockDurationMs }: RateLimit,
): Promise<{ isCounted: boolean; blockedForMs: number }> {
  const { rows } = await db.query(
    `insert into svc."__svc.auth.failing_prefixes" as prefixes
            (prefix, failures, blocked_by, expires_at, changed_in)
     select $1::text,
            case when $3::int > 1 then array[now] else '{}' end,
            case when $3::int > 1 then null else $2::uuid end,
            now + make_interval(secs => case when $3::int > 1 then $4::float8 else $5::float8 end),
            pg_current_xact_id()
       from clock_timestamp() as now
     on conflict (prefix) do update set (failures, blocked_by, expires_at, changed_in) = (
       select case when is_blocked or count(failure) + 1 >= $3::int then '{}'
                   else array_agg(failure) filter (where failure is not null) || now end,
              case when is_blocked then prefixes.blocked_by
                   when count(failure) + 1 >= $3::int then $2::uuid end,
              case when is_blocked then prefixes.expires_at
                   when count(failure) + 1 >= $3::int then now + make_interval(secs => $5::float8)
                   else now + make_interval(secs => $4::float8) end,
              case when is_blocked then prefixes.changed_in else pg_current_xact_id() end
         from (select now, prefixes.blocked_by is not null and prefixes.expires_at > now as is_blocked
                 from clock_timestamp() as now) as moment
         left join lateral unnest(prefixes.failures) as failure
           on failure > now - make_interval(secs => $4::float8)
        group by now, is_blocked)
     returning coalesce(blocked_by = $2::uuid, true) as "isCounted", ${BLOCKED_FOR_MS}`,
    [prefix, attempt, maxAttempts, windowMs / 1000, blockDurationMs / 1000],
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
       delete from svc."__svc.auth.failing_prefixes"
        where prefix = $1 and (blocked_by is null or expires_at <= clock_timestamp())
     )
     select ${BLOCKED_FOR_MS} from svc."__svc.auth.failing_prefixes"
      where prefix = $1 and blocked_by is not null and expires_at > clock_timestamp()`,
    [prefix],
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

/** For `advance`: failures and blocks become `seconds` older. Processes read the changes of the rows. */
export async function shiftFailures(db: Db, seconds: number): Promise<void> {
  await db.query(
    `update svc."__svc.auth.failing_prefixes"
        set expires_at = expires_at - back, changed_in = pg_current_xact_id(),
            failures = array(select at - back from unnest(failures) as at)
       from make_interval(secs => $1) as back`,
    [seconds],
  )
}
