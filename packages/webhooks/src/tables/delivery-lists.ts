/** Lists of the delivery log. Each page is read along an index, whatever the filter, in spans of days. */
import type { Db } from '@svc/core'
import { EVERYWHERE, withinReach, type Reach } from '@svc/core/internal'
import type { DeliveryFilter } from '../delivery-schemas.ts'
import type { LogRow } from './delivery-log.ts'
import {
  DAY_MS,
  newestMs,
  oldestMsOf,
  readSpans,
  spansBack,
  spansForward,
  timeOf,
  type LogSpan,
} from './log-spans.ts'

/** Which attempts are listed. */
export interface LogSelection extends DeliveryFilter {
  webhookId?: string | undefined
  /** What the names of events begin with that are left out. @default none are */
  except?: string | undefined
  /** Whose webhooks are listed. @default all */
  reach?: Reach | undefined
  /** Whether only the latest attempt of each delivery is listed. @default false */
  latest?: boolean | undefined
  /** How long an attempt may take, in milliseconds. @default LEAST_BEFORE_WRITTEN_MS */
  longestAttemptMs?: number | undefined
}

const COLUMNS = `id, webhook_id as "webhookId", event, event_id as "eventId", payload,
  delivery_id as "deliveryId", attempt, status, status_code as "statusCode", error,
  duration_ms as "durationMs", response_body as "responseBody",
  attempted_at as "attemptedAt", next_attempt_at as "nextAttemptAt", url,
  is_test as "isTest", phases, host(address) as address, response_headers as "responseHeaders"`

/** Newest first, none older than `days`; all of them without a `limit`. */
export const listLogRows = async (
  db: Db,
  days: number,
  selection: LogSelection,
): Promise<LogRow[]> => (await walkLog(db, days, selection)).rows

export interface Walked {
  rows: LogRow[]
  /** Where it ended early: the last attempt that was looked at. */
  cutAt?: string
}

/** The same. Filters may match few of millions of rows: the walk ends early after `longestMs`. */
export async function walkLog(
  db: Db,
  days: number,
  selection: LogSelection,
  longestMs = Infinity,
): Promise<Walked> {
  const { limit = Infinity, after, latest = false } = selection
  const { fromMs, toMs } = timesOf(days, selection)
  const endMs = performance.now() + longestMs
  const found: LogRow[] = []
  let portion = limit
  for (const { first, end } of spansBack(fromMs, toMs)) {
    let last = after !== undefined && after.toLowerCase() < end ? after.toLowerCase() : end
    while (last !== first && found.length < limit) {
      const most = latest ? portion : limit - found.length
      const rows = await listSpan(db, { first, end: last }, selection, most)
      found.push(...(latest ? await latestOf(db, rows) : rows))
      last = rows.length < most ? first : rows.at(-1)!.id
      if (found.length < limit && performance.now() > endMs) return { rows: found, cutAt: last }
      // Of attempts that failed, most may be followed by another one.
      portion = Math.min(MOST_AT_ONCE, 4 * portion)
    }
    if (found.length >= limit) break
  }
  return { rows: found.slice(0, limit) }
}

/** Rows that are read to find those that are the latest of their deliveries. */
const MOST_AT_ONCE = 1000

/** Of these rows, newest first, those whose deliveries have no later one. */
async function latestOf(db: Db, rows: LogRow[]): Promise<LogRow[]> {
  const oldest = rows.at(-1)
  if (oldest === undefined) return []
  const followed = new Set<string>()
  for (const { first, end } of spansBack(timeOf(oldest.id), newestMs())) {
    const { rows: found } = await db.query(
      // A lateral one with a limit is a look into the index for each row; an "exists" may read the span whole.
      `select row.id from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as row (id, delivery, webhook)
        cross join lateral (
          select from svc."__svc.webhooks.delivery_log" as log
           where log.delivery_id = row.delivery and log.webhook_id = row.webhook
             and log.id > row.id and log.id >= $4 and log.id < $5 limit 1) as later`,
      [
        rows.map(({ id }) => id),
        rows.map(({ deliveryId }) => deliveryId),
        rows.map(({ webhookId }) => webhookId),
        first,
        end,
      ],
    )
    for (const { id } of found as { id: string }[]) followed.add(id)
  }
  return rows.filter(({ id }) => !followed.has(id))
}

async function listSpan(
  db: Db,
  { first, end }: LogSpan,
  selection: LogSelection,
  most: number,
): Promise<LogRow[]> {
  const { webhookId, reach = EVERYWHERE, status, event, eventId, deliveryId } = selection
  const { statusCode, since, until, except } = selection
  // The values are part of the plan, since the statement is not prepared: conditions that are not
  // set drop out of it, and the others get an index.
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.webhooks.delivery_log"
      where id >= $1 and id < $2
        and ($3::uuid is null or webhook_id = $3)
        and ${withinReach('tenant', '$4')}
        and ($5::text is null or status = $5)
        and ($6::text is null or event = $6)
        and ($7::text is null
             or event_id is not null and svc."__svc.webhooks.published_id"(event_id) = $7)
        and ($8::uuid is null or delivery_id = $8)
        and ($9::smallint is null or status_code = $9)
        and ($10::timestamptz is null or attempted_at >= $10)
        and ($11::timestamptz is null or attempted_at < $11)
        and ($13::text is null or not starts_with(event, $13))
      order by id desc limit $12`,
    [
      first,
      end,
      webhookId ?? null,
      reach,
      status ?? null,
      event ?? null,
      eventId ?? null,
      deliveryId ?? null,
      statusCode ?? null,
      since ?? null,
      until ?? null,
      most === Infinity ? null : most,
      except ?? null,
    ],
  )
  return rows.map(asLogRow)
}

/** How much the clocks of processes and of Postgres may differ. */
const CLOCK_MARGIN_MS = 60_000
/**
 * A row is written at the end of its attempt. A host with another `deliveryTimeoutMs` may make longer
 * attempts than this one.
 */
const LEAST_BEFORE_WRITTEN_MS = 10 * 60_000

/** When the rows were written that a selection may have: their ids begin with it. */
function timesOf(
  days: number,
  { since, until, after, deliveryId, longestAttemptMs = 0 }: LogSelection,
): { fromMs: number; toMs: number } {
  const fromMs = Math.max(
    Date.now() - days * DAY_MS,
    since === undefined ? 0 : Date.parse(since) - CLOCK_MARGIN_MS,
    deliveryId === undefined ? 0 : oldestMsOf(deliveryId),
  )
  const writtenWithinMs = Math.max(LEAST_BEFORE_WRITTEN_MS, longestAttemptMs + CLOCK_MARGIN_MS)
  const toMs = Math.min(
    newestMs(),
    until === undefined ? Infinity : Date.parse(until) + writtenWithinMs,
    // The millisecond of the last row that was seen may have others.
    after === undefined ? Infinity : timeOf(after) + 1,
  )
  return { fromMs, toMs }
}

/** The first row of a delivery. In a transaction. */
export async function findDelivery(
  db: Db,
  days: number,
  webhookId: string,
  deliveryId: string,
): Promise<LogRow | undefined> {
  const fromMs = Math.max(Date.now() - days * DAY_MS, oldestMsOf(deliveryId))
  let found: LogRow | undefined
  await readSpans(db, spansForward(fromMs, newestMs()), async ({ first, end }) => {
    const { rows } = await db.query(
      `select ${COLUMNS} from svc."__svc.webhooks.delivery_log"
        where delivery_id = $1 and webhook_id = $2 and id >= $3 and id < $4 order by id limit 1`,
      [deliveryId, webhookId, first, end],
    )
    if (rows.length > 0) found = asLogRow(rows[0])
    return found !== undefined
  })
  return found
}

/** Columns that most rows do not have. */
const RARE = ['url', 'isTest', 'phases', 'address', 'responseHeaders'] as const

/** A host may have set parsers in pg that turn timestamps into something else than dates. */
function asLogRow(row: LogRow): LogRow {
  const { attemptedAt, nextAttemptAt } = row
  for (const column of RARE) if (row[column] === null) delete row[column]
  return {
    ...row,
    attemptedAt: isoOf(attemptedAt),
    nextAttemptAt: nextAttemptAt && isoOf(nextAttemptAt),
  }
}

const isoOf = (time: Date | string): string => new Date(time).toISOString()
