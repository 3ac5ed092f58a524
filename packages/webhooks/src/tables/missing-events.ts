/** The table of events that a recovery makes deliveries of: a webhook wanted them, and never got one. */
import type { Db } from '@svc/core'
import type { Recovery } from '@svc/core/internal'
import type { Webhook } from '../schemas.ts'

export interface MissingEvent {
  n: string
  event: string
  eventId: string
}

/** Whose events are missing, and of which span. */
export interface MissingSpan {
  recovery: Pick<Recovery, 'id' | 'queue' | 'since' | 'until'>
  webhook: Pick<Webhook, 'id' | 'events' | 'tenant'>
  /** The subscription of all webhooks. */
  subscription: string
  /** How long the delivery log is kept. */
  logDays: number
}

/**
 * The events of a span that a webhook wants by their names and its tenant, and has no delivery of:
 * neither in the log, nor waiting, nor dead, nor about to be made by another recovery. Of events that
 * are older than the log nothing is known: they are left out.
 */
const missing = (statement: string): string => `
  with span as (
    select greatest($1::timestamptz, now() - make_interval(days => $6)) as since,
           $2::timestamptz as until
  ), delivered as materialized (
    select event, event_id from svc."__svc.webhooks.delivery_log", span
     where webhook_id = $3 and event_id is not null
       and id >= svc."__svc.first_uuid"(span.since - interval '1 minute')
    union
    select data ->> 'event', data ->> 'eventId' from svc_jobs.job
     where name in ($7, $7 || '.dlq') and singleton_key = $3::text
       and state in ('created', 'retry', 'active')
    union
    select missing.event, missing.event_id from svc."__svc.webhooks.missing_events" as missing
      join svc."__svc.recoveries" as recovery on recovery.id = missing.recovery_id
     where recovery.queue = $7 and recovery.group_id = $3::text
  )
  ${statement}
    from svc."__svc.events" as event
    join span on event.published_at >= span.since and event.published_at < span.until
   where exists (select from svc."__svc.subscriptions" as wants
                  where wants.subscription = $8 and wants.event_name = event.name)
     and (event.name = any($4::text[])
          or '*' = any($4::text[]) and not starts_with(event.name, 'svc.'))
     and ($5::text is null or event.tenant = $5)
     and not exists (
       select from delivered
        where delivered.event = event.name and delivered.event_id = event.id)`

const valuesOf = ({ recovery, webhook, subscription, logDays }: MissingSpan): unknown[] => [
  recovery.since,
  recovery.until,
  webhook.id,
  webhook.events,
  webhook.tenant,
  logDays,
  recovery.queue,
  subscription,
]

export async function countMissing(db: Db, span: MissingSpan): Promise<number> {
  const { rows } = await db.query(missing('select count(*)::int as count'), valuesOf(span))
  return (rows[0] as { count: number }).count
}

/**
 * Writes them. Returns how many. Events of one transaction have one time: they come in the order of the
 * ids that their publishes gave, which is that of their publishes where these are UUIDv7.
 */
export async function insertMissing(db: Db, span: MissingSpan): Promise<number> {
  const { rowCount } = await db.query(
    missing(`insert into svc."__svc.webhooks.missing_events" (recovery_id, n, event, event_id)
  select $9, row_number() over (order by event.published_at,
                svc."__svc.webhooks.published_id"(event.id), event.name, event.id),
         event.name, event.id`),
    [...valuesOf(span), span.recovery.id],
  )
  return rowCount ?? 0
}

/** The next of them after `n`, with their payloads as JSON text. */
export async function readMissing(
  db: Db,
  recoveryId: string,
  n: string,
  limit: number,
): Promise<(MissingEvent & { payload: string })[]> {
  const { rows } = await db.query(
    `select missing.n::text, missing.event, missing.event_id as "eventId", event.payload
       from svc."__svc.webhooks.missing_events" as missing
       join svc."__svc.events" as event on event.name = missing.event and event.id = missing.event_id
      where missing.recovery_id = $1 and missing.n > $2 order by missing.n limit $3`,
    [recoveryId, n, limit],
  )
  return rows
}

export async function deleteMissing(db: Db, recoveryId: string, ns: string[]): Promise<void> {
  if (ns.length === 0) return
  await db.query(
    `delete from svc."__svc.webhooks.missing_events"
      where recovery_id = $1 and n = any($2::bigint[])`,
    [recoveryId, ns],
  )
}

/** Takes the first of them, in the order of the publishes. */
export async function takeMissing(
  db: Db,
  recoveryId: string,
  limit: number,
): Promise<MissingEvent[]> {
  const { rows } = await db.query(
    `with taken as (
       delete from svc."__svc.webhooks.missing_events"
        where recovery_id = $1
          and n = any(array(select n from svc."__svc.webhooks.missing_events"
                             where recovery_id = $1 order by n limit $2))
       returning n, event, event_id
     )
     select n::text, event, event_id as "eventId" from taken order by taken.n`,
    [recoveryId, limit],
  )
  return rows
}

/** Deletes the rows of events whose ids begin with `eventIdPrefix`. */
export async function forgetMissingEvents(db: Db, eventIdPrefix: string): Promise<void> {
  await db.query(
    `delete from svc."__svc.webhooks.missing_events" where starts_with(event_id, $1)`,
    [eventIdPrefix],
  )
}
