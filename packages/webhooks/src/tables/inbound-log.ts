/** The table of inbound requests. */
import type { Db } from '@svc/core'
import {
  AttachedFunction,
  EVERYWHERE,
  storableJson,
  withinReach,
  type Reach,
} from '@svc/core/internal'
import type { InboundFilter, LoggedRequest } from '../inbound-schemas.ts'
import { firstIdOf, timeOf } from './log-spans.ts'

export type LoggedOutcome = LoggedRequest['outcome']

/** A request as it is stored. */
export interface InboundRow extends Omit<LoggedRequest, 'at' | 'headers' | 'body' | 'bodyLeftOut'> {
  /** Path and query; null where raw bodies are not kept, as are the next two. */
  url: string | null
  /** Names and values in turn, as JSON text, with those masked that hold a secret. */
  headers: string | null
  body: Buffer | null
  /** Whether the source's `verify` had let it through. */
  verified: boolean
  /** The names of its events, as JSON text; null where there was no plan, and without raw bodies. */
  eventNames: string | null
  /** Route parameters, query and host, as JSON text. */
  requestParts: string | null
}

/** A row with its time, which its id begins with. */
export type ListedRow = InboundRow & {
  at: string
  /** Whether the body was left out, because those before it have `bodyBytes`. */
  bodyLeftOut?: boolean
}

/** `reach`: whose rows. @default all */
export type LoggedFilter = Omit<InboundFilter, 'tenant'> & { reach?: Reach }

const COLUMNS = `id, source, tenant, outcome, reason, event, event_id as "eventId", ip, bytes,
  duration_ms as "durationMs", url, headers, verified, event_names as "eventNames",
  request_parts as "requestParts"`

/** What a row is inserted from. */
export interface NewInboundRow extends Omit<InboundRow, 'event' | 'eventId'> {
  /** The names of its events; the first event that is new is that of the row. */
  events: string[]
  eventIds: string[]
  /** Whether the payload of its one event is the body, byte for byte: the body is not sent again. */
  payloadIsBody?: boolean
}

/** As "__svc.webhooks.log_inbound" reads it. */
export const rowToLog = ({ payloadIsBody = false, body, ...row }: NewInboundRow): object => ({
  ...row,
  payloadIsBody,
  body: payloadIsBody || body === null ? null : body.toString('base64'),
})

/** Inserts rows by the statement that publishes their events. */
export const LOG_INBOUND = new AttachedFunction('__svc.webhooks.log_inbound')

/** Inserts rows of requests that publish nothing. */
export async function insertInboundRows(db: Db, rows: NewInboundRow[]): Promise<void> {
  await db.query(`select svc."__svc.webhooks.log_inbound"($1)`, [
    storableJson(rows.map((row) => rowToLog(row))),
  ])
}

/** Newest first. */
export async function listInboundRows(db: Db, filter: LoggedFilter): Promise<ListedRow[]> {
  const { source, outcome, reach = EVERYWHERE, since, until, after, limit, bodyBytes } = filter
  // The length of a body is read without the body.
  const { rows } = await db.query(
    `with wanted as (
       select * from svc."__svc.webhooks.inbound_log"
        where ($1::text is null or source = $1)
          and ($2::text is null or outcome = $2)
          and ${withinReach('tenant', '$3')}
          and ($4::uuid is null or id >= $4)
          and ($5::uuid is null or id < $5)
          and ($6::uuid is null or id < $6)
        order by id desc limit $7
     ), measured as (
       select *, coalesce(sum(octet_length(body)) over (
                   order by id desc rows between unbounded preceding and 1 preceding), 0) as bytes_before
         from wanted order by id desc
     )
     select ${COLUMNS},
            case when $8::bigint is null or bytes_before < $8 then body end as body,
            body is not null and $8 is not null and bytes_before >= $8 as "bodyLeftOut"
       from measured order by id desc`,
    [
      source ?? null,
      outcome ?? null,
      reach,
      since === undefined ? null : firstIdOf(Date.parse(since)),
      until === undefined ? null : firstIdOf(Date.parse(until)),
      after ?? null,
      limit ?? null,
      bodyBytes ?? null,
    ],
  )
  return rows.map(withTime)
}

export async function findInboundRow(db: Db, id: string): Promise<ListedRow | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS}, body from svc."__svc.webhooks.inbound_log" where id = $1`,
    [id],
  )
  return rows[0] && withTime(rows[0])
}

/** Deletes rows older than `days`, in portions that hold locks only briefly. */
export async function sweepInboundRows(
  db: Db,
  days: number,
  stopping?: AbortSignal,
): Promise<void> {
  const portion = 5000
  const oldest = firstIdOf(Date.now() - days * 24 * 3600 * 1000)
  for (;;) {
    const { rowCount } = await db.query(
      `with portion as materialized (
         select id from svc."__svc.webhooks.inbound_log" where id < $1
          order by id limit $2 for update skip locked
       )
       delete from svc."__svc.webhooks.inbound_log" where id = any(array(select id from portion))`,
      [oldest, portion],
    )
    if ((rowCount ?? 0) < portion || stopping?.aborted) return
  }
}

const withTime = (row: InboundRow): ListedRow => ({
  ...row,
  at: new Date(timeOf(row.id)).toISOString(),
})

/** Deletes the rows of a tenant, in portions. Returns how many. */
export async function eraseInboundRows(db: Db, tenant: string): Promise<number> {
  const portion = 1000
  for (let erased = 0; ;) {
    const { rowCount } = await db.query(
      `delete from svc."__svc.webhooks.inbound_log"
        where id = any(array(select id from svc."__svc.webhooks.inbound_log"
                              where tenant = $1 order by id limit $2))`,
      [tenant, portion],
    )
    erased += rowCount ?? 0
    if ((rowCount ?? 0) < portion) return erased
  }
}
