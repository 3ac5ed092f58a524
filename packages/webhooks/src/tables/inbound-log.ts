/** The table of inbound requests. */
import type { Db } from '@svc/core'
import {
  CREATED,
  EVERYWHERE,
  FIRST_INSERTED,
  PAYLOADS,
  withinReach,
  type InsertPublished,
  type Reach,
} from '@svc/core/internal'
import { firstIdOf, timeOf } from './log-spans.ts'

export type LoggedOutcome = 'accepted' | 'duplicate' | 'refused' | 'failed'

/** A request as it is stored. */
export interface InboundRow {
  id: string
  source: string
  tenant: string | null
  outcome: LoggedOutcome
  reason: string | null
  event: string | null
  eventId: string | null
  ip: string | null
  bytes: number
  durationMs: number
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

export interface InboundFilter {
  source?: string | undefined
  outcome?: LoggedOutcome | undefined
  /** Whose rows. @default all */
  reach?: Reach
  since?: string | undefined
  until?: string | undefined
  after?: string | undefined
  limit?: number | undefined
  /** Bodies are read until they have so many bytes together. @default all bodies */
  bodyBytes?: number | undefined
}

const COLUMNS = `id, source, tenant, outcome, reason, event, event_id as "eventId", ip, bytes,
  duration_ms as "durationMs", url, headers, verified, event_names as "eventNames",
  request_parts as "requestParts"`

/** The columns of {@link valuesOf}, with their types. */
const INSERTED = {
  id: 'uuid',
  source: 'text',
  tenant: 'text',
  outcome: 'text',
  reason: 'text',
  event: 'text',
  event_id: 'text',
  ip: 'text',
  bytes: 'integer',
  duration_ms: 'integer',
  url: 'text',
  headers: 'text',
  body: 'bytea',
  verified: 'boolean',
  event_names: 'text',
  request_parts: 'text',
}
const NAMES = Object.keys(INSERTED).join(', ')

const arraysFrom = (first: number): string =>
  Object.values(INSERTED)
    .map((type, index) => `$${first + index}::${type}[]`)
    .join(', ')

/** An array for each column, or null where no row has a value. */
const valuesOf = <Row extends InboundRow>(
  rows: readonly (Row | null)[],
  sentBody: (row: Row) => Buffer | null = ({ body }) => body,
): unknown[] => {
  const column = (name: keyof InboundRow) => arrayOf(rows, (row) => row[name])
  return [
    column('id'),
    column('source'),
    column('tenant'),
    column('outcome'),
    column('reason'),
    column('event'),
    column('eventId'),
    column('ip'),
    column('bytes'),
    column('durationMs'),
    column('url'),
    column('headers'),
    arrayOf(rows, sentBody),
    column('verified'),
    column('eventNames'),
    column('requestParts'),
  ]
}

export async function insertInboundRows(db: Db, rows: InboundRow[]): Promise<void> {
  await db.query(
    `insert into svc."__svc.webhooks.inbound_log" (${NAMES})
     select * from unnest(${arraysFrom(1)})`,
    valuesOf(rows),
  )
}

/** A row that is written with its event. */
export interface RowOfEvent extends InboundRow {
  /** Whether the event's payload is the body, byte for byte: the body is then not sent again. */
  payloadIsBody: boolean
}

/** Inserts rows as a part of the statement that publishes their events, see "__svc.webhooks.log_inbound". */
export const insertWithEvents: InsertPublished = {
  call: `svc."__svc.webhooks.log_inbound"(${CREATED}, ${PAYLOADS}, $${FIRST_INSERTED}::boolean[],
    ${arraysFrom(FIRST_INSERTED + 1)})`,
  valuesOf: (rows: readonly (RowOfEvent | null)[]) => [
    arrayOf(rows, ({ payloadIsBody }) => payloadIsBody),
    ...valuesOf(rows, ({ body, payloadIsBody }) => (payloadIsBody ? null : body)),
  ],
}

/** The value of each row; null where none has one. */
function arrayOf<Row>(
  rows: readonly (Row | null)[],
  value: (row: Row) => unknown,
): unknown[] | null {
  const values = rows.map((row) => row && value(row))
  return values.some((one) => one !== null) ? values : null
}

/** Newest first. */
export async function listInboundRows(db: Db, filter: InboundFilter): Promise<ListedRow[]> {
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
