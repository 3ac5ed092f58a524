/** The columns of webhooks with the results of their attempts. Times are those of Postgres. */
import type { Db } from '@svc/core'
import { MISSED_UNTIL_DISABLED, SHIFTED_BACK } from './missed-since.ts'
import { asWebhook, COLUMNS, type StoredWebhook, type WebhookRow } from './webhook-row.ts'

/** The attempts of a webhook that a process has made since its last write. */
export interface SeenAttempts {
  webhookId: string
  /** The address of the attempts. */
  url: string
  /** How long ago, in milliseconds; `null` where there was none. */
  successAgoMs: number | null
  /** Failures after that success. */
  failures: number
  firstFailureAgoMs: number | null
  lastFailureAgoMs: number | null
  /** Whether a probe has failed. */
  isFailedProbe: boolean
}

/** A webhook whose columns were written. */
export interface WrittenHealth {
  id: string
  url: string
  isFailing: boolean
  /** It was deactivated because its attempts failed. */
  isDisabled: boolean
}

/** The time of an event by its age: the clocks of processes differ. */
const ago = (column: string): string =>
  `clock_timestamp() - seen.${column} * interval '1 millisecond'`

/**
 * Adds what was seen. A success ends the run of failures before it, whichever process saw them.
 * Attempts at an address that the webhook no longer has are left out. So are rows that another
 * transaction has locked, unless it `waits`: no delivery waits for such a lock.
 */
export async function writeHealth(
  db: Db,
  seen: SeenAttempts[],
  probeEverySeconds: number | null,
  waits = false,
): Promise<WrittenHealth[]> {
  const { rows } = await db.query(
    `with seen as materialized (
       select seen.id, seen.url, failures, is_failed_probe,
              ${ago('success_ago')} as success_at,
              ${ago('first_failure_ago')} as first_failure_at,
              ${ago('last_failure_ago')} as last_failure_at
         from unnest($1::uuid[], $2::float8[], $3::int[], $4::float8[], $5::float8[], $6::boolean[],
                     $8::text[])
                as seen (id, success_ago, failures, first_failure_ago, last_failure_ago,
                         is_failed_probe, url)
     ), known as materialized (
       select id, url, failing_since, failed_attempts, warned_at, last_success_at
         from svc."__svc.webhooks.registrations"
        where id = any($1::uuid[]) order by id for no key update ${waits ? '' : 'skip locked'}
     ), merged as materialized (
       select known.id, seen.is_failed_probe, success.at as success_at, seen.last_failure_at,
              -- Of both runs of failures only those after the last success.
              least(case when known.failing_since > success.last then known.failing_since end,
                    case when seen.last_failure_at > success.last
                         then greatest(seen.first_failure_at, success.at) end) as failing_since,
              case when known.failing_since > success.last then known.failed_attempts else 0 end
                + case when seen.last_failure_at > success.last then seen.failures else 0 end
                as failed_attempts,
              case when known.failing_since > success.last then known.warned_at end as warned_at
         from known join seen using (id, url)
        cross join lateral (
          select at, coalesce(at, '-infinity') as last
            from greatest(known.last_success_at, seen.success_at) as at
        ) as success
     )
     update svc."__svc.webhooks.registrations" as webhook
        set last_success_at = merged.success_at,
            last_failure_at = greatest(webhook.last_failure_at, merged.last_failure_at),
            failing_since = merged.failing_since,
            failed_attempts = merged.failed_attempts,
            warned_at = merged.warned_at,
            probe_after = case when merged.is_failed_probe and $7::float8 is not null
                               then now() + make_interval(secs => $7::float8)
                               else webhook.probe_after end
       from merged where webhook.id = merged.id
     returning webhook.id, webhook.url, webhook.failing_since is not null as "isFailing",
               not webhook.active and webhook.disabled_reason = 'failing' is true as "isDisabled"`,
    [
      seen.map(({ webhookId }) => webhookId),
      seen.map(({ successAgoMs }) => successAgoMs),
      seen.map(({ failures }) => failures),
      seen.map(({ firstFailureAgoMs }) => firstFailureAgoMs),
      seen.map(({ lastFailureAgoMs }) => lastFailureAgoMs),
      seen.map(({ isFailedProbe }) => isFailedProbe),
      probeEverySeconds,
      seen.map(({ url }) => url),
    ],
  )
  return rows
}

/** A webhook whose attempts have all failed for a while. */
export interface FailingWebhook extends Pick<StoredWebhook, 'id' | 'tenant' | 'url'> {
  failingSince: Date
  failedAttempts: number
}

/** How many webhooks one transaction changes. */
export const PORTION = 50

/**
 * Marks those of these webhooks as warned whose failed attempts span this time, and returns them. A row that
 * another transaction has locked is left to the next failed attempt.
 */
export async function markWarned(
  db: Db,
  ids: string[],
  warnAfterSeconds: number,
): Promise<FailingWebhook[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations" set warned_at = now()
      where id = any(array(
        select id from svc."__svc.webhooks.registrations"
         where id = any($1::uuid[]) and active and warned_at is null
           and last_failure_at - failing_since >= make_interval(secs => $2)
         order by id for no key update skip locked))
     returning id, tenant, url, failing_since as "failingSince", failed_attempts as "failedAttempts"`,
    [ids, warnAfterSeconds],
  )
  // A host may have set parsers in pg that turn timestamps into something else than dates.
  return rows.map((row: FailingWebhook) => ({ ...row, failingSince: new Date(row.failingSince) }))
}

/**
 * Locks those of these webhooks whose failed attempts span this time, and are so many at least. One that is
 * not marked as warned yet, because its row was locked, is left to the next failed attempt.
 */
export async function lockFailing(
  db: Db,
  ids: string[],
  failingForSeconds: number,
  minAttempts: number,
): Promise<string[]> {
  const { rows } = await db.query(
    `select id from svc."__svc.webhooks.registrations"
      where id = any($1::uuid[]) and active and warned_at is not null and failed_attempts >= $3
        and last_failure_at - failing_since >= make_interval(secs => $2)
      order by id for no key update skip locked`,
    [ids, failingForSeconds, minAttempts],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/** Returns those that were active until now. */
export async function deactivateWebhooks(
  db: Db,
  ids: string[],
  reason: 'failing' | 'gone',
): Promise<DeactivatedWebhook[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations"
        set active = false, disabled_at = now(), disabled_reason = $2, probe_after = null,
            missed_until_disabled = ${MISSED_UNTIL_DISABLED}, updated_at = now()
      where id in (select id from svc."__svc.webhooks.registrations"
                    where id = any($1::uuid[]) and active order by id for no key update)
     returning ${COLUMNS}, failed_attempts as "failedAttempts"`,
    [ids, reason],
  )
  return rows.map(({ failedAttempts, ...row }: WebhookRow & { failedAttempts: number }) => ({
    webhook: asWebhook(row),
    failedAttempts,
  }))
}

export interface DeactivatedWebhook {
  webhook: StoredWebhook
  /** Since `failingSince`. */
  failedAttempts: number
}

/** The address and the tenant of each of these webhooks. Deleted ones are left out. */
export async function findAddresses(
  db: Db,
  ids: string[],
): Promise<Pick<StoredWebhook, 'id' | 'tenant' | 'url'>[]> {
  const { rows } = await db.query(
    `select id, tenant, url from svc."__svc.webhooks.registrations" where id = any($1::uuid[])`,
    [ids],
  )
  return rows
}

const PROBE_DUE_AT = 'coalesce(probe_after, disabled_at + make_interval(secs => $1))'

/** A portion of the disabled webhooks whose probe is due, those that have waited longest. No other process takes them for `leaseSeconds`. */
export async function takeProbes(
  db: Db,
  probeEverySeconds: number,
  leaseSeconds: number,
): Promise<string[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations" set probe_after = now() + make_interval(secs => $2)
      where id = any(array(
        select id from svc."__svc.webhooks.registrations"
         where disabled_reason = 'failing' and not active and ${PROBE_DUE_AT} <= now()
         order by ${PROBE_DUE_AT}, id limit ${PORTION} for no key update skip locked))
     returning id`,
    [probeEverySeconds, leaseSeconds],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/**
 * For `advance`: failures become `seconds` older, and probes are due `seconds` sooner. A check locks rows
 * in the order of their ids, too.
 */
export async function shiftFailureTimes(db: Db, seconds: number): Promise<void> {
  await db.query(
    `update svc."__svc.webhooks.registrations"
        set failing_since = failing_since - make_interval(secs => $1),
            last_success_at = last_success_at - make_interval(secs => $1),
            last_failure_at = last_failure_at - make_interval(secs => $1),
            disabled_at = disabled_at - make_interval(secs => $1),
            missed_until_disabled = ${SHIFTED_BACK},
            probe_after = probe_after - make_interval(secs => $1)
      where id in (select id from svc."__svc.webhooks.registrations"
                    where failing_since is not null or disabled_reason = 'failing'
                    order by id for no key update)`,
    [seconds],
  )
}

/**
 * The attempt of a waiting delivery could not begin: the next probe is due after so many seconds. A row that
 * another transaction has locked keeps its lease.
 */
export async function postponeProbes(db: Db, ids: string[], seconds: number): Promise<void> {
  if (ids.length === 0) return
  await db.query(
    `update svc."__svc.webhooks.registrations"
        set probe_after = now() + make_interval(secs => $2)
      where id in (select id from svc."__svc.webhooks.registrations"
                    where id = any($1::uuid[]) order by id for no key update skip locked)`,
    [ids, seconds],
  )
}
