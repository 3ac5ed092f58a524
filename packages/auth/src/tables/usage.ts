/** How often keys were used, by the hour. */
import { withinReach, type Db, type Reach } from '@svc/core/internal'
import { deleteInPortions } from './portions.ts'
import { isoOf } from './timestamps.ts'

export type UsageOutcome = 'allowed' | 'rate_limited' | 'quota_exceeded' | 'forbidden' | 'expired'
export type Counts = Record<UsageOutcome, number>

export const NO_USES: Readonly<Counts> = {
  allowed: 0,
  rate_limited: 0,
  quota_exceeded: 0,
  forbidden: 0,
  expired: 0,
}

export const OUTCOMES = Object.keys(NO_USES) as UsageOutcome[]

/** Rows of one hour, for one statement. */
export interface UsagePortion {
  /** Grows by one with each portion. A portion that is written again keeps its number. */
  readonly number: number
  readonly hour: Date
  readonly uses: readonly (readonly [keyId: string, Counts])[]
}

/**
 * Adds to what other processes have written of the same keys and hour. A portion of a number that its
 * `writer` has written already is left out: the answer to the first time did not arrive.
 */
export async function addUsage(
  db: Db,
  writer: string,
  { number, hour, uses }: UsagePortion,
): Promise<void> {
  await db.query(
    `with once as (
       insert into svc."__svc.auth.usage_writers" as writers (writer, portion)
       values ($1, $2)
       on conflict (writer) do update set portion = excluded.portion, written_at = now()
         where writers.portion < excluded.portion
       returning writer)
     insert into svc."__svc.auth.usage" as usage
       (key_id, hour, tenant, allowed, rate_limited, quota_exceeded, forbidden, expired)
     select keys.id, $3::timestamptz, keys.tenant, given.allowed, given.rate_limited,
            given.quota_exceeded, given.forbidden, given.expired
       from once
      cross join unnest($4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
              $9::bigint[])
              as given (id, allowed, rate_limited, quota_exceeded, forbidden, expired)
       join svc."__svc.auth.api_keys" as keys on keys.id = given.id
      -- In one order in all processes: two portions cannot wait for each other.
      order by keys.id
     on conflict (key_id, hour) do update set
       allowed = usage.allowed + excluded.allowed,
       rate_limited = usage.rate_limited + excluded.rate_limited,
       quota_exceeded = usage.quota_exceeded + excluded.quota_exceeded,
       forbidden = usage.forbidden + excluded.forbidden,
       expired = usage.expired + excluded.expired`,
    [
      writer,
      number,
      hour.toISOString(),
      uses.map(([id]) => id),
      ...OUTCOMES.map((outcome) => uses.map(([, counts]) => counts[outcome])),
    ],
  )
}

export interface UsageFilter {
  /** `null`: of all keys. */
  keyId: string | null
  reach: Reach
  from: Date
  to: Date
  by: 'hour' | 'day'
}

export type UsagePoint = { at: string } & Counts

/** One point for each hour or day that `from` to `to` touches, in UTC, also where nothing was used. */
export async function findUsage(db: Db, filter: UsageFilter): Promise<UsagePoint[]> {
  const { keyId, reach, from, to, by } = filter
  const { rows } = await db.query(
    `select ${isoOf('at')} as at, ${OUTCOMES.map(sumOf).join(', ')}
       from (select step at time zone 'utc' as at
               from generate_series(date_trunc($1, $2::timestamptz at time zone 'utc'),
                      $3::timestamptz at time zone 'utc', ('1 ' || $1)::interval) as step) as steps
       left join (
         select date_trunc($1, hour, 'utc') as step, * from svc."__svc.auth.usage"
          where hour >= date_trunc($1, $2::timestamptz, 'utc') and hour < $3
            and ($4::uuid is null or key_id = $4)
            and ${withinReach('tenant', '$5')}) as usage on usage.step = at
      where at < $3
      group by at order by at`,
    [by, from.toISOString(), to.toISOString(), keyId, reach],
  )
  return rows
}

const sumOf = (outcome: UsageOutcome): string =>
  `coalesce(sum(usage.${outcome}), 0)::float8 as ${outcome}`

const KEPT_DAYS = 400

/** Deletes rows older than 400 days. */
export async function sweepUsage(db: Db, stopping?: AbortSignal): Promise<void> {
  const old = `
    with old as materialized (
      select key_id, hour from svc."__svc.auth.usage"
       where hour < now() - make_interval(days => $1) limit $2 for update skip locked)
    delete from svc."__svc.auth.usage" as usage
     using old where (old.key_id, old.hour) = (usage.key_id, usage.hour)`
  await deleteInPortions(db, old, [KEPT_DAYS], stopping)
  if (stopping?.aborted) return
  // Rows of processes that have ended. Running processes write more often, or have nothing to write
  // again.
  await db.query(
    `delete from svc."__svc.auth.usage_writers" where written_at < now() - interval '1 day'`,
  )
}
