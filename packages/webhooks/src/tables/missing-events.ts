/** The table of events that a recovery makes deliveries of: a webhook wanted them, and never got one. */
import type { Db } from '@svc/core'
import type { Recovery } from '@svc/core/internal'
import type { Webhook } from '../schemas.ts'

export interface MissingEvent {
  n: string
  event: string
  eventId: string
}

/**
 * Writes the events of a span that a webhook wants by their names and its tenant, and has no
 * delivery of: neither in the log, nor waiting, nor dead, nor about to be made by another recovery.
 * Of events that are older than the log nothing is known: they are left out. Returns how many.
 */
export async function insertMissing(
  db: Db,
  { id, queue, since, until }: Pick<Recovery, 'id' | 'queue' | 'since' | 'until'>,
  webhook: Pick<Webhook, 'id' | 'events' | 'tenant'>,
  { subscription, logDays }: { subscription: string; logDays: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `with span as (
       select greatest($2::timestamptz, now() - make_interval(days => $7)) as since,
              $3::timestamptz as until
     ), delivered as materialized (
       select event, event_id from svc."__svc.webhooks.delivery_log", span
        where webhook_id = $4 and event_id is not null
          and id >= svc."__svc.first_uuid"(span.since - interval '1 minute')
       union
       select data ->> 'event', data ->> 'eventId' from svc_jobs.job
        where name in ($8, $8 || '.dlq') and singleton_key = $4::text
          and state in ('created', 'retry', 'active')
       union
       select missing.event, missing.event_id from svc."__svc.webhooks.missing_events" as missing
         join svc."__svc.recoveries" as recovery on recovery.id = missing.recovery_id
        where recovery.queue = $8 and recovery.group_id = $4::text
     )
     insert into svc."__svc.webhooks.missing_events" (recovery_id, n, event, event_id)
     select $1, row_number() over (order by event.published_at, event.id, event.name),
            event.name, event.id
       from svc."__svc.events" as event
       join span on event.published_at >= span.since and event.published_at < span.until
      where exists (select from svc."__svc.subscriptions" as wants
                     where wants.subscription = $9 and wants.event_name = event.name)
        and (event.name = any($5::text[])
             or '*' = any($5::text[]) and not starts_with(event.name, 'svc.'))
        and ($6::text is null or event.tenant = $6)
        and not exists (
          select from delivered
           where delivered.event = event.name and delivered.event_id = event.id)`,
    [id, since, until, webhook.id, webhook.events, webhook.tenant, logDays, queue, subscription],
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
