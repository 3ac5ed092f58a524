/** The statements on the table of events. */
import type { Db } from '../postgres/transaction.ts'
import { NO_JOB_NEEDS_EVENT } from '../jobs/pg-boss/jobs-table.ts'
import { idsOfTenant } from './event-id.ts'

export interface EventKey {
  name: string
  /** The id as it is stored, see event-id.ts. */
  id: string
}

export interface EventRow extends EventKey {
  /** JSON text. */
  payload: string
  /** JSON text: the paths of the leaves that differ from what was before. @default null: unknown */
  changed?: string | null
  /**
   * The trace context of the span that published it, see telemetry/trace-context.ts. @default none
   */
  traceContext?: string | null
}

export interface StoredEvent extends EventRow {
  changed: string | null
  publishedAt: Date
  traceContext: string | null
  bytes: number
}

/**
 * The payload texts and publish times of events, by `name` and `id`. The text of a payload with more
 * than `atMostBytes` is left out: an empty string.
 */
export async function findPayloads(
  db: Db,
  events: EventKey[],
  atMostBytes: number | null = null,
): Promise<StoredEvent[]> {
  const { rows } = await db.query(
    `select event.name, event.id, octet_length(event.payload) as bytes,
            case when $3::int is null or octet_length(event.payload) <= $3 then event.payload else '' end
              as payload,
            extract(epoch from event.published_at)::float8 * 1000 as "publishedAt",
            event.trace_context as "traceContext", event.changed::text as changed
       from unnest($1::text[], $2::text[]) as wanted (name, id)
       join svc."__svc.events" as event on event.name = wanted.name and event.id = wanted.id`,
    [events.map(({ name }) => name), events.map(({ id }) => id), atMostBytes],
  )
  // pg needs longer to parse a timestamp than the rest of the row, and a host may have set another
  // parser.
  return rows.map((row: StoredEvent) => ({ ...row, publishedAt: new Date(row.publishedAt) }))
}

/** How long the payload texts of events are, in bytes, by `name` and `id`. */
export async function findPayloadSizes(
  db: Db,
  events: EventKey[],
): Promise<{ name: string; id: string; bytes: number }[]> {
  const { rows } = await db.query(
    `select event.name, event.id, octet_length(event.payload) as bytes
       from unnest($1::text[], $2::text[]) as wanted (name, id)
       join svc."__svc.events" as event on event.name = wanted.name and event.id = wanted.id`,
    [events.map(({ name }) => name), events.map(({ id }) => id)],
  )
  return rows
}

/**
 * Rows that refer to these events are kept for `days` from now on, so the events are kept as long.
 * Events of the last day are not updated: sweeps leave a day's margin.
 */
export async function retainEvents(db: Db, events: EventKey[], days: number): Promise<void> {
  if (events.length === 0) return
  await db.query(
    `update svc."__svc.events" as event set keep_until = now() + make_interval(days => $3::int)
       from unnest($1::text[], $2::text[]) as needed (name, id)
      where event.name = needed.name and event.id = needed.id
        and coalesce(event.keep_until, event.published_at + make_interval(days => $3::int))
            < now() + make_interval(days => $3::int - 1)`,
    [events.map(({ name }) => name), events.map(({ id }) => id), days],
  )
}

/**
 * Deletes events that are older than `days` and than the retention of every subscription, and that no
 * job needs, nor a recovery that has not made all its jobs yet; in portions that hold no lock for long.
 */
export async function sweepEvents(db: Db, days: number, stopping?: AbortSignal): Promise<void> {
  // Each portion scans all jobs: few large ones are cheaper.
  const portion = 20_000
  for (;;) {
    const { rowCount } = await db.query(
      `with portion as materialized (
         select event.name, event.id from svc."__svc.events" as event
          where event.published_at < now() - make_interval(days => 1 + greatest($1::int,
                  (select max(keep_days) from svc."__svc.subscriptions")))
            and (event.keep_until is null or event.keep_until < now())
            and event.published_at < coalesce(
                  (select min(since) from svc."__svc.work"
                    where what = 'missing' and finished_at is null), 'infinity')
            and ${NO_JOB_NEEDS_EVENT}
          limit $2 for update skip locked
       ), deleted as (
         delete from svc."__svc.events" as event using portion
          where event.name = portion.name and event.id = portion.id
         returning event.position
       ), noted as (
         update svc."__svc.feed" set deleted_to = greatest(deleted_to, (select max(position) from deleted))
       )
       select from deleted`,
      [days, portion],
    )
    if ((rowCount ?? 0) < portion || stopping?.aborted) return
  }
}

export async function eraseEvents(db: Db, tenant: string): Promise<number> {
  let erased = 0
  for (const name of await findEventNames(db)) {
    for (let more = true; more;) {
      const deleted = await eraseEventsOf(db, name, tenant)
      erased += deleted
      more = deleted === ERASED_PORTION
    }
  }
  return erased
}

const ERASED_PORTION = 2000

/** One step along the primary key for each name, however many events it has. */
async function findEventNames(db: Db): Promise<string[]> {
  const { rows } = await db.query(
    `with recursive known as (
       (select name from svc."__svc.events" order by name limit 1)
       union all
       select (select name from svc."__svc.events" as event
                where event.name > known.name order by name limit 1)
         from known where known.name is not null
     )
     select name from known where name is not null`,
  )
  return rows.map(({ name }: { name: string }) => name)
}

/** The ids of a tenant's events are a range of the primary key, see event-id.ts. */
async function eraseEventsOf(db: Db, name: string, tenant: string): Promise<number> {
  const { from, to } = idsOfTenant(tenant)
  const { rowCount } = await db.query(
    `with deleted as (
       delete from svc."__svc.events"
        where name = $1 and id = any(array(
          select id from svc."__svc.events"
           where name = $1 and id >= $2 and id < $3 order by id limit $4))
       returning position
     ), noted as (
       update svc."__svc.feed" set erased_to = (select max(position) from deleted)
        where erased_to < (select max(position) from deleted)
     )
     select from deleted`,
    [name, from, to, ERASED_PORTION],
  )
  return rowCount ?? 0
}
