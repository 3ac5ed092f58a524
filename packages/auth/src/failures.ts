/**
 * Failed attempts per key prefix, in the key-value store: the times of the last ones, or the block
 * that they led to. Each statement decides by the row as it finds it, under that row's lock and by
 * Postgres' clock, so that any number of processes count as one.
 */
import type { Db } from '@svc/core/kit'

export interface RateLimit {
  /** Failures within the window that block the prefix. */
  maxAttempts: number
  /** Sliding window in which failures count, in milliseconds. */
  windowMs: number
  /** Duration of the block, in milliseconds. */
  blockDurationMs: number
}

export interface PrefixRecord {
  prefix: string
  /** How long the block still lasts; 0 where failures are counted, but nothing is blocked. */
  blockedForMs: number
}

const keyOf = (prefix: string): string => `__svc.auth.failures/${prefix}`

const BLOCKED_FOR_MS = `case when value ? 'blockedBy'
  then extract(epoch from expires_at - clock_timestamp())::float8 * 1000 else 0 end as "blockedForMs"`

/**
 * Counts one failure. Where the prefix is blocked already, nothing is counted.
 *
 * @param attempt an id of this attempt: it tells the failure that led to a block from later ones
 */
export async function countFailure(
  db: Db,
  prefix: string,
  attempt: string,
  limit: RateLimit,
): Promise<{ isCounted: boolean; blockedForMs: number }> {
  const { rows } = await db.query(
    `insert into svc."__svc.kv" as kv (key, value, expires_at)
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
     returning coalesce(value ->> 'blockedBy' = $2::text, true) as "isCounted",
               ${BLOCKED_FOR_MS}`,
    [
      keyOf(prefix),
      attempt,
      limit.maxAttempts,
      limit.windowMs / 1000,
      limit.blockDurationMs / 1000,
    ],
  )
  return rows[0]
}

/** Those of the prefixes that have failures or a block. */
export async function findFailures(db: Db, prefixes: readonly string[]): Promise<PrefixRecord[]> {
  const { rows } = await db.query(
    `select substr(key, ${keyOf('').length + 1}) as prefix, ${BLOCKED_FOR_MS}
       from svc."__svc.kv"
      where key = any($1::text[]) and expires_at > clock_timestamp()`,
    [prefixes.map(keyOf)],
  )
  return rows
}

/** Forgets the failures of a prefix; a block stays. */
export async function forgetFailures(db: Db, prefix: string): Promise<void> {
  await db.query(
    `delete from svc."__svc.kv"
      where key = $1 and (not value ? 'blockedBy' or expires_at <= clock_timestamp())`,
    [keyOf(prefix)],
  )
}
