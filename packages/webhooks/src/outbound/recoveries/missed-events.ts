/** The table of events that a recovery makes deliveries of: a webhook wanted them, and never got one. */
import type { Db } from '@svc/core'
import type { Recovery } from '@svc/core/internal'
import type { Webhook } from '../../schemas.ts'
import {
  DAY_MS,
  firstIdOf,
  newestMs,
  readSpans,
  spansForward,
  type LogSpan,
} from '../../tables/log-spans.ts'

export interface MissedEvent {
  n: string
  event: string
  eventId: string
}

/** Which webhook missed events, and in which part of the span. */
export interface MissedSlice {
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
const MISSED = `
  wanted as materialized (
    select event.name, event.id, event.published_at from svc."__svc.events" as event
     where event.published_at >= $1::timestamptz and event.published_at < $2::timestamptz
       and exists (select from svc."__svc.subscriptions" as wants
                    where wants.subscription = $6 and wants.event_name = event.name
                      and wants.meant_by && $4::text[])
       and ($5::text is null or event.tenant = $5)
       and not exists (
         select from svc."__svc.webhooks.delivery_log" as log
          where log.webhook_id = $3 and log.id >= $8::uuid and log.id < $9::uuid
            and log.event = event.name and log.event_id = event.id)
  ), queued as materialized (
    select name, id from svc."__svc.queued_events"($7, $3::text) where exists (select from wanted)
    union
    select missed.event, missed.event_id from svc."__svc.webhooks.missed_events" as missed
      join svc."__svc.work" as recovery on recovery.id = missed.recovery_id
     where recovery.queue = $7 and recovery.recipient = $3::text
  ), missed as (
    select wanted.* from wanted
     where not exists (
       select from queued where queued.name = wanted.name and queued.id = wanted.id)
  )`
const FIND_MISSED = `with ${MISSED} select name, id from missed limit $10`
/**
 * Events of one transaction have one time: they come in the order of the ids that their publishes gave,
 * which is that of their publishes where these are UUIDv7.
 */
const INSERT_MISSED = `with ${MISSED}
  insert into svc."__svc.webhooks.missed_events" (recovery_id, n, event, event_id)
  select $10, $11::bigint + row_number() over (order by published_at,
                svc."__svc.webhooks.published_id"(id), name, id),
         name, id
    from missed`

const MINUTE_MS = 60_000
const LOG_AFTER_SLICE_MS = 2 * DAY_MS

/** Where the log has the deliveries of a slice that follow their events soon. */
const logOf = ({ since, until }: MissedSlice): LogSpan => ({
  first: firstIdOf(Date.parse(since) - MINUTE_MS),
  end: firstIdOf(Date.parse(until) + LOG_AFTER_SLICE_MS),
})

/** Where the log has later ones. */
const laterLogOf = ({ until }: MissedSlice): Iterable<LogSpan> =>
  spansForward(Date.parse(until) + LOG_AFTER_SLICE_MS, newestMs())

const valuesOf = (slice: MissedSlice): unknown[] => [
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

/** At most `most` of them. Each statement is a transaction of its own. */
export async function findMissed(db: Db, slice: MissedSlice, most: number): Promise<EventKey[]> {
  const { rows } = await db.query(FIND_MISSED, [...valuesOf(slice), most])
  let missed = rows as EventKey[]
  for (const { first, end } of laterLogOf(slice)) {
    if (missed.length === 0) break
    const { rows: late } = await db.query(
      `select wanted.n::int as n from unnest($4::text[], $5::text[]) with ordinality as wanted (name, id, n)
        where exists (
          select from svc."__svc.webhooks.delivery_log" as log
           where log.webhook_id = $1 and log.id >= $2 and log.id < $3
             and log.event = wanted.name and log.event_id = wanted.id)`,
      [slice.webhook.id, first, end, missed.map(({ name }) => name), missed.map(({ id }) => id)],
    )
    const delivered = new Set(late.map(({ n }: { n: number }) => n - 1))
    missed = missed.filter((_, index) => !delivered.has(index))
  }
  return missed
}

/** Writes them after those of the recovery that have numbers up to `n`, in a transaction. Returns how many. */
export async function insertMissed(
  db: Db,
  recoveryId: string,
  slice: MissedSlice,
  n: string,
): Promise<number> {
  const inserted = await db.query(INSERT_MISSED, [...valuesOf(slice), recoveryId, n])
  const count = inserted.rowCount ?? 0
  const late = new Set<string>()
  const later = count === 0 ? [] : laterLogOf(slice)
  await readSpans(db, later, async ({ first, end }) => {
    const { rows } = await db.query(
      `select missed.n::text from svc."__svc.webhooks.missed_events" as missed
        where missed.recovery_id = $1 and missed.n > $2::bigint
          and exists (
            select from svc."__svc.webhooks.delivery_log" as log
             where log.webhook_id = $3 and log.id >= $4 and log.id < $5
               and log.event = missed.event and log.event_id = missed.event_id)`,
      [recoveryId, n, slice.webhook.id, first, end],
    )
    for (const one of rows as { n: string }[]) late.add(one.n)
    return late.size === count
  })
  await deleteMissed(db, recoveryId, [...late])
  return count - late.size
}

/** The number of the last event of the recovery, and how many there are. */
export async function countedMissed(
  db: Db,
  recoveryId: string,
): Promise<{ last: string; count: number }> {
  const { rows } = await db.query(
    `select coalesce(max(n), 0)::text as last, count(*)::int as count
       from svc."__svc.webhooks.missed_events" where recovery_id = $1`,
    [recoveryId],
  )
  return rows[0] as { last: string; count: number }
}

/** The next of them after `n`, with their payloads as JSON text. */
export async function readMissed(
  db: Db,
  recoveryId: string,
  n: string,
  most: number,
): Promise<(MissedEvent & { payload: string; changed: string | null })[]> {
  const { rows } = await db.query(
    `select missed.n::text, missed.event, missed.event_id as "eventId", event.payload,
            event.changed::text as changed
       from svc."__svc.webhooks.missed_events" as missed
       join svc."__svc.events" as event on event.name = missed.event and event.id = missed.event_id
      where missed.recovery_id = $1 and missed.n > $2 order by missed.n limit $3`,
    [recoveryId, n, most],
  )
  return rows
}

export async function deleteMissed(db: Db, recoveryId: string, ns: string[]): Promise<void> {
  if (ns.length === 0) return
  await db.query(
    `delete from svc."__svc.webhooks.missed_events"
      where recovery_id = $1 and n = any($2::bigint[])`,
    [recoveryId, ns],
  )
}

/** Takes the first of them, in the order of the publishes. */
export async function takeMissed(db: Db, recoveryId: string, most: number): Promise<MissedEvent[]> {
  const { rows } = await db.query(
    `with taken as (
       delete from svc."__svc.webhooks.missed_events"
        where recovery_id = $1
          and n = any(array(select n from svc."__svc.webhooks.missed_events"
                             where recovery_id = $1 order by n limit $2))
       returning n, event, event_id
     )
     select n::text, event, event_id as "eventId" from taken order by taken.n`,
    [recoveryId, most],
  )
  return rows
}

/** Deletes the rows of events whose ids begin with `eventIdPrefix`. */
export async function forgetMissedEvents(db: Db, eventIdPrefix: string): Promise<void> {
  await db.query(`delete from svc."__svc.webhooks.missed_events" where starts_with(event_id, $1)`, [
    eventIdPrefix,
  ])
}
