/** The tables of statistics: recent attempts, and what they are rolled up into. */
import type { Db } from '@svc/core'
import { ADVISORY_LOCKS, withinReach, type Reach } from '@svc/core/internal'

export type Period = 'minute' | 'hour' | 'day'

/** Upper bounds of the buckets in which durations are counted, in milliseconds; the last bucket has none. */
export const BOUNDS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000,
  7000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 3_600_000, 86_400_000,
] as const

const BUCKETS = Array.from({ length: BOUNDS.length + 1 }, (_, bucket) => bucket)
const BOUNDS_TEXT = `'{${BOUNDS.join()}}'::integer[]`

/** The counts of rows of {@link withBuckets}. */
const COUNTED = `
  count(*) filter (where status = 'delivered')::int as delivered,
  count(*) filter (where status in ('failed', 'dead'))::int as failed,
  count(*) filter (where status = 'skipped')::int as skipped,
  count(*) filter (where status = 'dead')::int as dead,
  ${histogram('duration_bucket')} as durations, ${histogram('first_attempt_bucket')} as first_attempts`

function histogram(bucketOf: string): string {
  const counts = BUCKETS.map((bucket) => `count(*) filter (where ${bucketOf} = ${bucket})::int`)
  return `array[${counts.join(', ')}]`
}

/**
 * Recent attempts with the buckets of their durations. Without the `offset` Postgres would determine the
 * bucket again for each of the counts.
 */
const withBuckets = (attempts: string): string => `(
  select *, width_bucket(duration_ms, ${BOUNDS_TEXT}) as duration_bucket,
         width_bucket(first_attempt_ms, ${BOUNDS_TEXT}) as first_attempt_bucket
    from ${attempts} offset 0) as attempt`

const summed = (column: string): string =>
  `array[${BUCKETS.map((bucket) => `sum(${column}[${bucket + 1}])::int`).join(', ')}]`

/** The sums of rows of the statistics. */
const SUMMED = `sum(delivered)::int as delivered, sum(failed)::int as failed,
  sum(skipped)::int as skipped, sum(dead)::int as dead,
  ${summed('durations')} as durations, ${summed('first_attempts')} as first_attempts`

const combined = (column: string, operator: '+' | '-', other: string): string => {
  const at = (table: string, bucket: number) => `${table}.${column}[${bucket + 1}]`
  return `array[${BUCKETS.map((bucket) => `${at('known', bucket)} ${operator} ${at(other, bucket)}`).join(', ')}]`
}

const ADDED = `do update
  set delivered = known.delivered + excluded.delivered,
      failed = known.failed + excluded.failed,
      skipped = known.skipped + excluded.skipped,
      dead = known.dead + excluded.dead,
      durations = ${combined('durations', '+', 'excluded')},
      first_attempts = ${combined('first_attempts', '+', 'excluded')}`

const ADD_TO_KNOWN = `on conflict (period, at, webhook_id, event) ${ADDED}`
const ADD_TO_TOTALS = `on conflict (scope, period, at, of_keys) ${ADDED}`

const SUMS = 'delivered, failed, skipped, dead, durations, first_attempts'
const COLUMNS = `period, at, webhook_id, event, tenant, ${SUMS}`

/** The totals that an attempt counts in: those of all, and those of its tenant. */
const SCOPES = `lateral (values ('*'), (coalesce(tenant, ''))) as of_tenant (scope)`

/** Rows that one transaction rolls up. */
const PORTION = 20_000

/** One process at a time rolls up, until the transaction ends. Returns whether this one may. */
async function lockStats(db: Db): Promise<boolean> {
  const { rows } = await db.query(
    `select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.webhookStats}) as locked`,
  )
  return rows[0].locked
}

/** A webhook that was disabled as failing, and has taken a delivery at this address. */
export interface Working {
  id: string
  url: string
}

/** A portion of recent attempts that was counted; `null`: another process is counting. */
export type RolledUp = { hasMore: boolean; working: Working[] } | null

/**
 * Counts a portion of the recent attempts into minutes, and into the columns of their webhooks. Attempts of a webhook
 * whose row another transaction has locked are left: no delivery waits for such a lock. It is one statement, since
 * each process that makes attempts calls it once a second. To plan it takes twice as long as to run it: `db` prepares
 * it.
 */
export async function rollUpRecent(db: Db): Promise<RolledUp> {
  const { rows } = await db.query(
    `with turn as materialized (
       select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.webhookStats}) as is_ours
        where exists (select from svc."__svc.webhooks.recent_attempts")
     ), recent as materialized (
       select ctid, webhook_id, succeeded from svc."__svc.webhooks.recent_attempts"
        where (select is_ours from turn) limit $1
     ), known as materialized (
       select id, failing_since, failed_attempts, warned_at, last_success_at
         from svc."__svc.webhooks.registrations"
        where id = any(array(select webhook_id from recent where succeeded is not null))
        order by id for no key update skip locked
     ), taken as (
       delete from svc."__svc.webhooks.recent_attempts"
        where ctid = any(array(
          select ctid from recent
           where succeeded is null or webhook_id in (select id from known)
              or webhook_id not in (select id from svc."__svc.webhooks.registrations")))
       returning *
     ), rolled as (
       insert into svc."__svc.webhooks.stats" as known (${COLUMNS})
       select 'minute', date_trunc('minute', at, 'UTC') as minute, webhook_id, event, max(tenant),
              ${COUNTED}
         from ${withBuckets('taken')} group by minute, webhook_id, event
       ${ADD_TO_KNOWN}
     ), totals as materialized (
       select scope, date_trunc('minute', at, 'UTC') as minute,
              starts_with(event, 'svc.key.') as of_keys, ${COUNTED}
         from ${withBuckets('taken')} cross join ${SCOPES} group by scope, minute, of_keys
     ), of_minutes as (
       insert into svc."__svc.webhooks.stats_totals" as known (scope, period, at, of_keys, ${SUMS})
       select scope, 'minute', minute, of_keys, ${SUMS} from totals
       ${ADD_TO_TOTALS}
     ), of_hours as (
       insert into svc."__svc.webhooks.stats_totals" as known (scope, period, at, of_keys, ${SUMS})
       select scope, 'hour', date_trunc('hour', minute, 'UTC') as hour, of_keys, ${SUMMED}
         from totals group by scope, hour, of_keys
       ${ADD_TO_TOTALS}
     ), success as materialized (
       select known.id, greatest(known.last_success_at, its.at) as at
         from known
         left join (select webhook_id, max(recorded_at) as at from taken where succeeded
                     group by webhook_id) as its on its.webhook_id = known.id
     ), failure as materialized (
       -- Only those after the last success are a run of failures.
       select success.id, max(taken.recorded_at) as last_at,
              min(taken.recorded_at) filter (where taken.recorded_at > coalesce(success.at, '-infinity'))
                as first_at,
              count(*) filter (where taken.recorded_at > coalesce(success.at, '-infinity')) as count
         from success join taken on taken.webhook_id = success.id
        where not taken.succeeded
        group by success.id
     ), merged as materialized (
       select known.id, success.at as success_at, failure.last_at, failure.first_at,
              coalesce(failure.count, 0) as count,
              known.failing_since > coalesce(success.at, '-infinity') is true as goes_on
         from known join success using (id) left join failure using (id)
     ), changed as (
       update svc."__svc.webhooks.registrations" as webhook
          set last_success_at = merged.success_at,
              last_failure_at = greatest(webhook.last_failure_at, merged.last_at),
              failing_since = case when goes_on then webhook.failing_since else merged.first_at end,
              failed_attempts = case when goes_on then webhook.failed_attempts else 0 end + merged.count,
              warned_at = case when goes_on then webhook.warned_at end
         from merged where webhook.id = merged.id
       returning webhook.id, webhook.url,
                 not webhook.active and webhook.disabled_reason = 'failing' is true
                   and webhook.failing_since is null as is_working
     )
     select (select is_ours from turn) is not false as "isOurs",
            (select count(*) = $1 from recent) and exists (select from taken) as "hasMore",
            (select coalesce(json_agg(json_build_object('id', id, 'url', url)), '[]')::text
               from changed where is_working) as working`,
    [PORTION],
  )
  const { isOurs, hasMore, working } = rows[0]
  return isOurs ? { hasMore, working: JSON.parse(working) as Working[] } : null
}

/** For `advance`: waits for the rows of webhooks that others have locked and that attempts are counted into. */
export async function awaitCounted(db: Db): Promise<void> {
  await db.query(
    `select from svc."__svc.webhooks.registrations"
      where id in (select webhook_id from svc."__svc.webhooks.recent_attempts" where succeeded is not null)
      order by id for no key update`,
  )
}

/** Rolls what is older than `days` up into the next period. In a transaction. */
export async function rollUpOlder(
  db: Db,
  from: 'minute' | 'hour',
  to: 'hour' | 'day',
  days: number,
): Promise<void> {
  if (!(await lockStats(db))) return
  await db.query(
    `with taken as (
       delete from svc."__svc.webhooks.stats"
        where period = $1
          and at < date_trunc('day', now() - make_interval(days => $3), 'UTC')
       returning *
     )
     insert into svc."__svc.webhooks.stats" as known (${COLUMNS})
     select $2::text, date_trunc($2::text, at, 'UTC') as start, webhook_id, event, max(tenant), ${SUMMED}
       from taken group by start, webhook_id, event
     ${ADD_TO_KNOWN}`,
    [from, to, days],
  )
  // Their hours are there already.
  const deleted = `delete from svc."__svc.webhooks.stats_totals"
    where period = $1 and at < date_trunc('day', now() - make_interval(days => $2), 'UTC')`
  if (from === 'minute') return void (await db.query(deleted, [from, days]))
  await db.query(
    `with taken as (${deleted} returning *)
     insert into svc."__svc.webhooks.stats_totals" as known (scope, period, at, of_keys, ${SUMS})
     select scope, $3::text, date_trunc($3::text, at, 'UTC') as start, of_keys, ${SUMMED}
       from taken group by scope, start, of_keys
     ${ADD_TO_TOTALS}`,
    [from, days, to],
  )
}

export async function sweepStats(db: Db, days: number): Promise<void> {
  for (const table of ['stats', 'stats_totals']) {
    await db.query(
      `delete from svc."__svc.webhooks.${table}"
        where period = 'day' and at < now() - make_interval(days => $1)`,
      [days],
    )
  }
}

/** Deletes the statistics of a tenant that is erased. */
export async function eraseStats(db: Db, tenant: string, webhookIds: string[]): Promise<void> {
  for (const table of ['recent_attempts', 'stats']) {
    await db.query(
      `delete from svc."__svc.webhooks.${table}" where tenant = $1 or webhook_id = any($2::uuid[])`,
      [tenant, webhookIds],
    )
  }
  await db.query(
    `with erased as (
       delete from svc."__svc.webhooks.stats_totals" where scope = $1 returning *
     )
     update svc."__svc.webhooks.stats_totals" as known
        set delivered = known.delivered - erased.delivered, failed = known.failed - erased.failed,
            skipped = known.skipped - erased.skipped, dead = known.dead - erased.dead,
            durations = ${combined('durations', '-', 'erased')},
            first_attempts = ${combined('first_attempts', '-', 'erased')}
       from erased
      where known.scope = '*' and known.period = erased.period and known.at = erased.at
        and known.of_keys = erased.of_keys`,
    [tenant],
  )
}

export interface StatsSelection {
  from: string
  to: string
  by: Period
  reach: Reach
  webhookId?: string | undefined
  event?: string | undefined
  /** What the names of events begin with that are not counted. */
  except?: string | undefined
}

export interface StatsRow {
  /** Milliseconds since 1970. */
  at: number
  delivered: number
  failed: number
  skipped: number
  dead: number
  durations: number[]
  firstAttempts: number[]
}

/** Of totals, minutes and hours are both there: where there are minutes, hours are not counted. */
const OF_MINUTES = `(period = 'minute' or at < coalesce(
  (select date_trunc('hour', min(at), 'UTC') from svc."__svc.webhooks.stats_totals"
    where scope = coalesce($4, '*') and period = 'minute'), 'infinity'))`

/**
 * Reads in one statement, so that what is rolled up meanwhile is counted once. Without a webhook and an
 * event it reads the totals: of a thousand webhooks a thousandth of the rows, and of a day 24.
 */
export async function readStats(
  db: Db,
  { from, to, by, reach, webhookId, event, except }: StatsSelection,
): Promise<StatsRow[]> {
  const selected = `at >= $1 and at < $2 and ${withinReach('tenant', '$4')}
    and ($5::uuid is null or webhook_id = $5) and ($6::text is null or event = $6)
    and ($7::text is null or not starts_with(event, $7))`
  const rolledUp =
    webhookId === undefined && event === undefined
      ? `svc."__svc.webhooks.stats_totals"
        where scope = coalesce($4, '*') and ($7::text is null or not of_keys) and at >= $1 and at < $2
          and ${by === 'minute' ? OF_MINUTES : "period in ('hour', 'day')"}`
      : `svc."__svc.webhooks.stats" where ${selected}`
  const { rows } = await db.query(
    `with counted as (
       select at, ${SUMS} from ${rolledUp} and period in ('minute', 'hour', 'day')
       union all
       select date_trunc('minute', at, 'UTC') as minute, ${COUNTED}
         from ${withBuckets(`svc."__svc.webhooks.recent_attempts" where ${selected}`)}
        group by minute
     )
     select extract(epoch from start)::float8 * 1000 as at, delivered, failed, skipped, dead,
            durations, first_attempts as "firstAttempts"
       from (select date_trunc($3::text, at, 'UTC') as start, ${SUMMED} from counted group by start)
              as point
      order by start`,
    [from, to, by, reach, webhookId ?? null, event ?? null, except ?? null],
  )
  return rows
}
