/** The columns of webhooks with the results of their attempts. Times are those of Postgres. */
import type { Db } from '@svc/core'
import type { FailingWebhooks } from '@svc/core/internal'
import { asWebhook, COLUMNS, type StoredWebhook, type WebhookRow } from './webhook-row.ts'

/**
 * Attempts that are recorded and not counted yet say nothing about the receiver any more: the webhook has
 * another address, or is resumed.
 */
export async function forgetAttempts(db: Db, id: string): Promise<void> {
  await db.query(
    `update svc."__svc.webhooks.recent_attempts" set succeeded = null
      where webhook_id = $1 and succeeded is not null`,
    [id],
  )
}

/** An active webhook whose last attempts have all failed. */
export interface FailingWebhook extends Pick<StoredWebhook, 'id' | 'tenant' | 'url'> {
  /** ISO 8601. */
  failingSince: string
  failingForSeconds: number
  failedAttempts: number
  isWarned: boolean
}

/** How many webhooks one transaction changes. */
export const PORTION = 50

const FAILING = `id, tenant, url, failing_since as "failingSince", failed_attempts as "failedAttempts",
  warned_at is not null as "isWarned",
  extract(epoch from last_failure_at - failing_since)::float8 as "failingForSeconds"`

/** A host may have set parsers in pg that turn timestamps into something else than dates. */
const asFailing = (row: FailingWebhook): FailingWebhook => ({
  ...row,
  failingSince: new Date(row.failingSince).toISOString(),
})

/** Those of these webhooks that fail. */
export async function findFailing(db: Db, ids: string[]): Promise<FailingWebhook[]> {
  const { rows } = await db.query(
    `select ${FAILING} from svc."__svc.webhooks.registrations"
      where id = any($1::uuid[]) and active and failing_since is not null`,
    [ids],
  )
  return rows.map(asFailing)
}

/** The same, locked. A row that another transaction has locked is left to the next failed attempt. */
export async function lockFailing(db: Db, ids: string[]): Promise<FailingWebhook[]> {
  const { rows } = await db.query(
    `select ${FAILING} from svc."__svc.webhooks.registrations"
      where id = any($1::uuid[]) and active and failing_since is not null
      order by id for no key update skip locked`,
    [ids],
  )
  return rows.map(asFailing)
}

/** Marks webhooks that are locked as warned of. */
export async function markWarned(db: Db, ids: string[]): Promise<void> {
  await db.query(
    `update svc."__svc.webhooks.registrations" set warned_at = now() where id = any($1::uuid[])`,
    [ids],
  )
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
            updated_at = now()
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

/** A portion of the disabled webhooks whose probe is due, those that have waited longest. No other process takes them for `turnSeconds`. */
export async function takeProbes(
  db: Db,
  probeEverySeconds: number,
  turnSeconds: number,
): Promise<string[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations" set probe_after = now() + make_interval(secs => $2)
      where id = any(array(
        select id from svc."__svc.webhooks.registrations"
         where disabled_reason = 'failing' and not active and not paused and url is not null
           and ${PROBE_DUE_AT} <= now()
         order by ${PROBE_DUE_AT}, id limit ${PORTION} for no key update skip locked))
     returning id`,
    [probeEverySeconds, turnSeconds],
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
            probe_after = probe_after - make_interval(secs => $1)
      where id in (select id from svc."__svc.webhooks.registrations"
                    where failing_since is not null or disabled_reason = 'failing'
                    order by id for no key update)`,
    [seconds],
  )
}

/**
 * The probes of these webhooks have ended, or could not begin: the next ones are due after so many seconds,
 * or when they were. Returns those whose rows another transaction has locked: they keep their turns.
 */
export async function endProbes(db: Db, ids: string[], seconds: number): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query(
    `with begun as materialized (
       select id from svc."__svc.webhooks.registrations"
        where id = any($1::uuid[]) and probe_after > now() + make_interval(secs => $2)
     ), free as materialized (
       select id from svc."__svc.webhooks.registrations"
        where id in (select id from begun) order by id for no key update skip locked
     ), ended as (
       update svc."__svc.webhooks.registrations"
          set probe_after = now() + make_interval(secs => $2)
        where id in (select id from free)
     )
     select id from begun where id not in (select id from free)`,
    [ids, seconds],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/**
 * Webhooks that are failing or were disabled as failing: how many, and the first of them by their ids. `since`
 * is ISO 8601. None where the tables are not made yet.
 */
export async function findFailingWebhooks(db: Db, most: number): Promise<FailingWebhooks> {
  const { rows: table } = await db.query(
    `select to_regclass('svc."__svc.webhooks.registrations"') is not null as exists`,
  )
  if (!(table[0] as { exists: boolean }).exists) return { count: 0, first: [] }
  const { rows } = await db.query(
    `select id, url, tenant, failed_attempts as "failedAttempts",
            to_char(failing_since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
            coalesce(disabled_reason = 'failing', false) as disabled, count(*) over ()::int as count
       from svc."__svc.webhooks.registrations"
      where failing_since is not null or disabled_reason = 'failing'
      order by id limit $1`,
    [most],
  )
  const all = rows as (FailingWebhooks['first'][number] & { count: number })[]
  return { count: all[0]?.count ?? 0, first: all.map(({ count: _, ...webhook }) => webhook) }
}
