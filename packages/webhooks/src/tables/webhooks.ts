/** The table of webhooks: which URL wants which events. */
import { forgetAttempts } from './webhook-health.ts'
import type { Db } from '@svc/core'
import {
  ADVISORY_LOCKS,
  foundBy,
  listNewest,
  tenantListOf,
  withinReach,
  type Reach,
} from '@svc/core/internal'
import type { CountedWebhooks, Page, TenantOfWebhooks, WebhookChanges } from '../schemas.ts'
import type { SettingsInput } from '../settings-schemas.ts'
import { asWebhook, COLUMNS, type StoredWebhook, type WebhookRow } from './webhook-row.ts'

export interface NewRow
  extends
    SettingsInput,
    Pick<StoredWebhook, 'id' | 'tenant' | 'url' | 'events' | 'label' | 'secret'> {}

/** `queue`: that of the deliveries, in which its tenant may be paused. */
export async function insertWebhook(
  db: Db,
  queue: string,
  { id, tenant, url, events, label, secret, ...settings }: NewRow,
): Promise<StoredWebhook> {
  const { rows } = await db.query(
    `insert into svc."__svc.webhooks.registrations"
       (id, url, events, label, secret, description, metadata, filter, headers, timeout_ms, retry,
        rate_limit, max_in_flight, ordered, transform, fields, tenant, paused)
     select $1, $2, $3, $4, $5, given ->> 'description', nullif(given -> 'metadata', 'null'),
            nullif(given -> 'filter', 'null'), nullif(given -> 'headers', 'null'),
            (given ->> 'timeoutMs')::integer, nullif(given -> 'retry', 'null'),
            nullif(given -> 'rateLimit', 'null'), (given ->> 'maxInFlight')::integer,
            coalesce((given ->> 'ordered')::boolean, false), given ->> 'transform', nullif(given -> 'fields', 'null'), $7,
            exists (select from svc."__svc.pauses" where queue = $8 and tenant = $7)
       from (select $6::jsonb as given) as settings
     returning ${COLUMNS}`,
    [id, url, events, label, secret, JSON.stringify(settings), tenant, queue],
  )
  return asWebhook(rows[0])
}

const WEBHOOKS = 'svc."__svc.webhooks.registrations"'

/** Whether a webhook is in the state that the parameter names, or that names none. */
const isIn = (state: string): string => `(${state}::text is null
  or ${state} = 'active' and active and failing_since is null
  or ${state} = 'failing' and active and failing_since is not null
  or ${state} = 'paused' and not active and disabled_reason is null
  or ${state} = 'disabled' and not active and disabled_reason is not null)`

const LIST = {
  table: WEBHOOKS,
  columns: COLUMNS,
  within: `${withinReach('tenant', '$3')} and ($5::uuid[] is null or id = any($5))
        -- The conditions of the partial indexes.
        and ($4::text is null or $4 not in ('paused', 'disabled') or not active)
        and ($4::text is distinct from 'failing' or failing_since is not null or disabled_reason = 'failing')`,
  listed: isIn('$4'),
  found: foundBy('words', '$6'),
}

/** Tenants that have webhooks, by name. */
export const listTenants = tenantListOf<TenantOfWebhooks>(WEBHOOKS, {
  webhooks: { table: WEBHOOKS },
})

/** Newest first; all of them without a `limit`. */
export async function listWebhooks(
  db: Db,
  { state, ids, ...page }: Omit<Page, 'tenant'>,
  reach: Reach,
): Promise<StoredWebhook[]> {
  const rows = await listNewest<WebhookRow>(db, LIST, page, [reach, state ?? null, ids ?? null])
  return rows.map(asWebhook)
}

/** How many there are, counted up to `most`. */
export async function countWebhooks(
  db: Db,
  { state, search }: Omit<CountedWebhooks, 'tenant'>,
  reach: Reach,
  most: number,
): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int as count from (
       select from svc."__svc.webhooks.registrations"
        where ${withinReach('tenant', '$1')} and ${isIn('$2')}
          and ($4::text is null or ${foundBy('words', '$4')})
        limit $3) as counted`,
    [reach, state ?? null, most, search ?? null],
  )
  return (rows[0] as { count: number }).count
}

const ONE = `select ${COLUMNS} from svc."__svc.webhooks.registrations"
  where id = $1 and ${withinReach('tenant', '$2')}`

export async function findWebhook(
  db: Db,
  id: string,
  reach: Reach,
): Promise<StoredWebhook | undefined> {
  const { rows } = await db.query(ONE, [id, reach])
  return rows[0] && asWebhook(rows[0])
}

/** When these webhooks were changed last; deleted ones are left out. */
export async function findUpdateTimes(db: Db, ids: string[]): Promise<Map<string, string>> {
  const { rows } = await db.query(
    `select id, updated_at as "updatedAt" from svc."__svc.webhooks.registrations"
      where id = any($1::uuid[])`,
    [ids],
  )
  return new Map(
    rows.map(({ id, updatedAt }: { id: string; updatedAt: string | Date }) => [
      id,
      new Date(updatedAt).toISOString(),
    ]),
  )
}

/** Keeps these webhooks from being changed until the transaction ends. Deleted ones are left out. */
export async function lockWebhooks(
  db: Db,
  ids: string[],
  reach: Reach,
): Promise<{ id: string; tenant: string | null; url: string | null; active: boolean }[]> {
  const { rows } = await db.query(
    `select id, tenant, url, active from svc."__svc.webhooks.registrations"
      where id = any($1::uuid[]) and ${withinReach('tenant', '$2')} order by id for share`,
    [ids, reach],
  )
  return rows
}

/** Locks the webhook until the transaction ends. */
export async function lockWebhook(
  db: Db,
  id: string,
  reach: Reach,
): Promise<StoredWebhook | undefined> {
  const { rows } = await db.query(`${ONE} for update`, [id, reach])
  return rows[0] && asWebhook(rows[0])
}

export type ChangedColumns = Omit<WebhookChanges, 'events'> & { events?: string[] }

/** Changes a locked webhook. */
export async function updateWebhook(
  db: Db,
  id: string,
  { url, events, active, label, ...settings }: ChangedColumns,
): Promise<StoredWebhook> {
  if (url !== undefined || active === true) await forgetAttempts(db, id)
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations"
        set url = case when $8 then $2 else url end,
            events = coalesce($3, events),
            active = coalesce($4::boolean, active),
            label = case when $5 then $6 else label end,
            description = case when given ? 'description' then given ->> 'description' else description end,
            metadata = case when given ? 'metadata' then nullif(given -> 'metadata', 'null') else metadata end,
            filter = case when given ? 'filter' then nullif(given -> 'filter', 'null') else filter end,
            filter_cost = case when given ? 'filter' then null else filter_cost end,
            headers = case when given ? 'headers' then nullif(given -> 'headers', 'null') else headers end,
            timeout_ms = case when given ? 'timeoutMs' then (given ->> 'timeoutMs')::integer else timeout_ms end,
            retry = case when given ? 'retry' then nullif(given -> 'retry', 'null') else retry end,
            rate_limit = case when given ? 'rateLimit' then nullif(given -> 'rateLimit', 'null') else rate_limit end,
            max_in_flight = case when given ? 'maxInFlight' then (given ->> 'maxInFlight')::integer else max_in_flight end,
            ordered = case when given ? 'ordered' then coalesce((given ->> 'ordered')::boolean, false) else ordered end,
            transform = case when given ? 'transform' then given ->> 'transform' else transform end,
            fields = case when given ? 'fields' then nullif(given -> 'fields', 'null') else fields end,
            -- A caller that sets "active" ends our own deactivation, and its probes.
            disabled_at = case when $4 is null then disabled_at end,
            disabled_reason = case when $4 is null then disabled_reason end,
            probe_after = case when $4 is null then probe_after end,
            -- Failures before a resumption, or at another address, do not count any more.
            failing_since = case when $4 is true or $8 and $2 is distinct from url then null else failing_since end,
            failed_attempts = case when $4 is true or $8 and $2 is distinct from url then 0 else failed_attempts end,
            warned_at = case when $4 is true or $8 and $2 is distinct from url then null else warned_at end,
            updated_at = now()
       from (select $7::jsonb as given) as settings
      where id = $1
     returning ${COLUMNS}`,
    [
      id,
      url ?? null,
      events ?? null,
      active ?? null,
      label !== undefined,
      label ?? null,
      JSON.stringify(settings),
      url !== undefined,
    ],
  )
  return asWebhook(rows[0])
}

/** Which of the secrets of a webhook sign beside the new one. */
export interface KeptSecrets {
  /** The one that is replaced, for `overlapSeconds`; `null` where it signs no more. */
  previousSecret: string | null
  overlapSeconds: number
  /** Those that were replaced before, each until it expires. */
  kept: string[]
}

export async function replaceSecret(
  db: Db,
  id: string,
  secret: string,
  { previousSecret, overlapSeconds, kept }: KeptSecrets,
): Promise<StoredWebhook> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations"
        set secret = $2,
            previous_secrets = (
              select jsonb_agg(previous.one order by previous.n)
                from (select 0 as n, jsonb_build_object('secret', $3::text,
                               'expiresAt', now() + make_interval(secs => $4)) as one
                       where $3 is not null
                      union all
                      select n, one
                        from jsonb_array_elements(previous_secrets) with ordinality as stored (one, n)
                       where one ->> 'secret' = any($5::text[])) as previous),
            updated_at = now()
      where id = $1
     returning ${COLUMNS}`,
    [id, secret, previousSecret, overlapSeconds, kept],
  )
  return asWebhook(rows[0])
}

/** Writes how many steps filters took. Webhooks that are locked or have no filter any more are left out. */
export async function writeFilterCosts(
  db: Db,
  costs: [webhookId: string, steps: number][],
): Promise<void> {
  await db.query(
    `update svc."__svc.webhooks.registrations" as webhook set filter_cost = cost.steps
       from unnest($1::uuid[], $2::integer[]) as cost (id, steps)
      where webhook.id = cost.id
        and webhook.id = any(array(
              select id from svc."__svc.webhooks.registrations"
               where id = any($1::uuid[]) and filter is not null
               order by id for no key update skip locked))`,
    [costs.map(([id]) => id), costs.map(([, steps]) => steps)],
  )
}

/** No other transaction adds a webhook of the tenant, or pauses it, until this one ends. */
export async function lockTenant(db: Db, tenant: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.tenants}, hashtext($1))`, [tenant])
}

/** Marks the webhooks of a tenant as paused, or not. Returns those that were not so before. */
export async function setPaused(
  db: Db,
  tenant: string,
  paused: boolean,
): Promise<{ id: string; active: boolean }[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations" set paused = $2
      where id in (select id from svc."__svc.webhooks.registrations"
                    where tenant = $1 and paused <> $2 order by id for no key update)
     returning id, active`,
    [tenant, paused],
  )
  return rows
}

/** Whether its tenant is paused. */
export async function isPaused(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from svc."__svc.webhooks.registrations" where id = $1 and paused`,
    [id],
  )
  return (rowCount ?? 0) > 0
}

/** How many webhooks the tenant has. No other transaction adds one until this one ends. */
export async function countWebhooksOf(db: Db, tenant: string): Promise<number> {
  await lockTenant(db, tenant)
  const { rows } = await db.query(
    `select count(*)::int as count from svc."__svc.webhooks.registrations" where tenant = $1`,
    [tenant],
  )
  return (rows[0] as { count: number }).count
}

/** Returns the deleted webhook. Its tenant is kept for the rows that its deliveries still get. */
export async function deleteWebhook(
  db: Db,
  id: string,
  reach: Reach,
): Promise<StoredWebhook | undefined> {
  const { rows } = await db.query(
    `with deleted as (
       delete from svc."__svc.webhooks.registrations"
        where id = $1 and ${withinReach('tenant', '$2')} returning *
     ), remembered as (
       insert into svc."__svc.webhooks.deleted_webhooks" (id, tenant)
       select id, tenant from deleted where tenant is not null
     )
     select ${COLUMNS} from deleted`,
    [id, reach],
  )
  return rows[0] && asWebhook(rows[0])
}

/**
 * Keeps these webhooks from being deleted until the transaction ends. Returns which it keeps: not those
 * that another transaction has locked, since it may be deleting them, and is not waited for.
 */
export async function keepWebhooks(db: Db, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query(
    `select id from svc."__svc.webhooks.registrations"
      where id = any($1::uuid[]) order by id for key share skip locked`,
    [ids],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/** Keeps the webhook from being deleted until the transaction ends. Returns whether it exists. */
export async function keepWebhook(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from svc."__svc.webhooks.registrations" where id = $1 for key share',
    [id],
  )
  return rowCount === 1
}

/** Which of these webhooks are deleted. */
export async function findDeletedWebhooks(db: Db, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query(
    `select wanted.id from unnest($1::uuid[]) as wanted (id)
      where not exists (
        select from svc."__svc.webhooks.registrations" as webhook where webhook.id = wanted.id)`,
    [ids],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/** The webhooks within a reach, or the one with `id`. */
export async function webhookIdsWithin(db: Db, reach: Reach, id?: string): Promise<string[]> {
  const { rows } = await db.query(
    `select id from svc."__svc.webhooks.registrations"
      where ${withinReach('tenant', '$1')} and ($2::uuid is null or id = $2)`,
    [reach, id ?? null],
  )
  return rows.map((row: { id: string }) => row.id)
}

/** Those that are sent deliveries, of these ids, or of all within a reach, oldest first. */
export async function findSentWebhooks(
  db: Db,
  reach: Reach,
  ids: string[] | null,
): Promise<StoredWebhook[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.webhooks.registrations"
      where ${withinReach('tenant', '$1')} and ($2::uuid[] is null or id = any($2)) and url is not null
      order by id`,
    [reach, ids],
  )
  return rows.map(asWebhook)
}

/** Deletes the tenants of webhooks that were deleted more than `days` ago. */
export async function sweepDeletedWebhooks(db: Db, days: number): Promise<void> {
  await db.query(
    `delete from svc."__svc.webhooks.deleted_webhooks"
      where deleted_at < now() - make_interval(days => $1)`,
    [days],
  )
}

// All webhooks of one tenant, for its erasure; also the deleted ones.

const PORTION = 500

/** Makes a portion of those that are active inactive. Returns their ids. */
export async function deactivateWebhooksOf(db: Db, tenant: string): Promise<string[]> {
  const { rows } = await db.query(
    `update svc."__svc.webhooks.registrations" set active = false
      where id in (select id from svc."__svc.webhooks.registrations"
                    where tenant = $1 and active order by id limit $2 for update)
     returning id`,
    [tenant, PORTION],
  )
  return rows.map(({ id }: { id: string }) => id)
}

/** Returns how many of these there were. */
export async function deleteWebhooks(db: Db, ids: readonly string[]): Promise<number> {
  let deleted = 0
  for (let start = 0; start < ids.length; start += PORTION) {
    const { rowCount } = await db.query(
      `delete from svc."__svc.webhooks.registrations" where id = any($1::uuid[])`,
      [ids.slice(start, start + PORTION)],
    )
    deleted += rowCount ?? 0
  }
  return deleted
}

export async function forgetDeletedWebhooks(db: Db, tenant: string): Promise<void> {
  await db.query(`delete from svc."__svc.webhooks.deleted_webhooks" where tenant = $1`, [tenant])
}
