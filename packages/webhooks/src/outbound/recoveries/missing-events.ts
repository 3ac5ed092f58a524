/** The table of events that a recovery makes deliveries of: a webhook wanted them, and never got one. */
import type { Db } from '@svc/core'
import type { Recovery } from '@svc/core/internal'
import type { Webhook } from '../../schemas.ts'
import { firstIdOf, newestMs, readSpans, spansForward, type LogSpan } from '../../tables/log-spans.ts'

export interface MissingEvent {
  n: string
  event: string
  eventId: string
}

/** Whose events are missing, and in which part of the span. */
export interface MissingSlice {
  recovery: Pick<Recovery, 'queue'>
  webhook: Pick<Webhook, 'id' | 'events' | 'tenant'>
  /** The subscription of all webhooks. */
  subscription: string
  /** ISO 8601. */
  since: string
  /** Not included. */
  until: string
}

/**
 * The events of a slice that the webhook wants by their names and its tenant, and has no delivery of:
 * neither in the log of the slice and of the two days that follow it, nor waiting, nor dead, nor about to
 * be made by another recovery.
 */
const MISSING = `
  wanted as materialized (
    select event.name, event.id, event.published_at from svc."__svc.events" as event
     where event.published_at >= $1::timestamptz and event.published_at < $2::timestamptz
       and exists (select from svc."__svc.subscriptions" as wants
                    where wants.subscription = $6 and wants.event_name = event.name)
       and exists (select from svc."__svc.names_that_mean"(event.name) as meaning (name)
                    where meaning.name = any($4::text[]))
       and ($5::text is null or event.tenant = $5)
       and not exists (
         select from svc."__svc.webhooks.delivery_log" as log
          where log.webhook_id = $3 and log.id >= $8::uuid and log.id < $9::uuid
            and log.event = event.name and log.event_id = event.id)
  ), queued as materialized (
    select name, id from svc."__svc.queued_events"($7, $3::text) where exists (select from wanted)
    union
    select missing.event, missing.event_id from svc."__svc.webhooks.missing_events" as missing
      join svc."__svc.work" as recovery on recovery.id = missing.recovery_id
     where recovery.queue = $7 and recovery.recipient = $3::text
  ), missing as (
    select wanted.* from wanted
     where not exists (
       select from queued where queued.name = wanted.name and queued.id = wanted.id)
  )`
const FIND_MISSING = `with ${MISSING} select name, id from missing limit $10`
/**
 * Events of one transaction have one time: they come in the order of the ids that their publishes gave,
 * which is that of their publishes where these are UUIDv7.
 */
const INSERT_MISSING = `with ${MISSING}
  insert into svc."__svc.webhooks.missing_events" (recovery_id, n, event, event_id)
  select $10, $11::bigint + row_number() over (order by published_at,
                svc."__svc.webhooks.published_id"(id), name, id),
         name, id
    from missing`

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const LOG_AFTER_SLICE_MS = 2 * DAY_MS

/** Where the log has the deliveries of a slice that follow their events soon. */
const logOf = ({ since, until }: MissingSlice): LogSpan => ({
  first: firstIdOf(Date.parse(since) - MINUTE_MS),
  end: firstIdOf(Date.parse(until) + LOG_AFTER_SLICE_MS),
})

/** Where the log has later ones. */
const laterLogOf = ({ until }: MissingSlice): Iterable<LogSpan> =>
  spansForward(Date.parse(until) + LOG_AFTER_SLICE_MS, newestMs())

const valuesOf = (slice: MissingSlice): unknown[] => [
  slice.since,
  slice.until,
  slice.webhook.id,
  slice.webhook.events,
  slice.webhook.tenant,
  slice.subscription,
  slice.recovery.queue,
  logOf(slice).first,
  logOf(slice).end,
]

interface EventKey {
  name: string
  id: string
}

/** At most `limit` of them. Each statement is a transaction of its own. */
export async function findMissing(db: Db, slice: MissingSlice, limit: number): Promise<EventKey[]> {
  const { rows } = await db.query(FIND_MISSING, [...valuesOf(slice), limit])
  let missing = rows as EventKey[]
  for (const { first, end } of laterLogOf(slice)) {
    if (missing.length === 0) break
    const { rows: late } = await db.query(
      `select wanted.n::int as n from unnest($4::text[], $5::text[]) with ordinality as wanted (name, id, n)
        where exists (
          select from svc."__svc.webhooks.delivery_log" as log
           where log.webhook_id = $1 and log.id >= $2 and log.id < $3
             and log.event = wanted.name and log.event_id = wanted.id)`,
      [slice.webhook.id, first, end, missing.map(({ name }) => name), missing.map(({ id }) => id)],
    )
    const delivered = new Set(late.map(({ n }: { n: number }) => n - 1))
    missing = missing.filter((_, index) => !delivered.has(index))
  }
  return missing
}

/** Writes them after those of the recovery that have numbers up to `n`, in a transaction. Returns how many. */
export async function insertMissing(
  db: Db,
  recoveryId: string,
  slice: MissingSlice,
  n: string,
): Promise<number> {
  const inserted = await db.query(INSERT_MISSING, [...valuesOf(slice), recoveryId, n])
  const count = inserted.rowCount ?? 0
  const late = new Set<string>()
  const later = count === 0 ? [] : laterLogOf(slice)
  await readSpans(db, later, async ({ first, end }) => {
    const { rows } = await db.query(
      `select missing.n::text from svc."__svc.webhooks.missing_events" as missing
        where missing.recovery_id = $1 and missing.n > $2::bigint
          and exists (
            select from svc."__svc.webhooks.delivery_log" as log
             where log.webhook_id = $3 and log.id >= $4 and log.id < $5
               and log.event = missing.event and log.event_id = missing.event_id)`,
      [recoveryId, n, slice.webhook.id, first, end],
    )
    for (const one of rows as { n: string }[]) late.add(one.n)
    return late.size === count
  })
  await deleteMissing(db, recoveryId, [...late])
  return count - late.size
}

/** The number of the last event of the recovery, and how many there are. */
export async function countedMissing(
  db: Db,
  recoveryId: string,
): Promise<{ last: string; count: number }> {
  const { rows } = await db.query(
    `select coalesce(max(n), 0)::text as last, count(*)::int as count
       from svc."__svc.webhooks.missing_events" where recovery_id = $1`,
    [recoveryId],
  )
  return rows[0] as { last: string; count: number }
}

/** The next of them after `n`, with their payloads as JSON text. */
export async function readMissing(
  db: Db,
  recoveryId: string,
  n: string,
  limit: number,
): Promise<(MissingEvent & { payload: string; changed: string | null })[]> {
  const { rows } = await db.query(
    `select missing.n::text, missing.event, missing.event_id as "eventId", event.payload,
            event.changed::text as changed
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
