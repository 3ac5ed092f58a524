/** Lists of the delivery log. Each page is read along an index, whatever the filter. */
import type { Db } from '@svc/core'
import { EVERYWHERE, withinReach, type Reach } from '@svc/core/internal'
import type { DeliveryFilter } from '../delivery-schemas.ts'
import type { LogRow } from './delivery-log.ts'

/** Which attempts are listed. */
export interface LogSelection extends DeliveryFilter {
  webhookId?: string
  /** What the names of events begin with that are left out. @default none are */
  except?: string
  /** Whose webhooks are listed. @default all */
  reach?: Reach
  /** How long an attempt may take, in milliseconds. @default LEAST_BEFORE_WRITTEN_MS */
  longestAttemptMs?: number
}

const COLUMNS = `id, webhook_id as "webhookId", event, event_id as "eventId", payload,
  delivery_id as "deliveryId", attempt, status, status_code as "statusCode", error,
  duration_ms as "durationMs", response_body as "responseBody",
  attempted_at as "attemptedAt", next_attempt_at as "nextAttemptAt", url`

/** Newest first, none older than `days`; all of them without a `limit`. */
export async function listLogRows(
  db: Db,
  days: number,
  {
    webhookId,
    reach = EVERYWHERE,
    limit,
    after,
    status,
    event,
    eventId,
    deliveryId,
    statusCode,
    since,
    until,
    except,
    longestAttemptMs = 0,
  }: LogSelection,
): Promise<LogRow[]> {
  const { first, end } = idsOf(days, { since, until, after }, longestAttemptMs)
  // The values are part of the plan, since the statement is not prepared: conditions that are not
  // set drop out of it, and the others get an index.
  const { rows } = await db.query(
    `select ${COLUMNS} from svc."__svc.webhooks.delivery_log"
      where id >= $1
        and ($2::uuid is null or id < $2)
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
      limit ?? null,
      except ?? null,
    ],
  )
  return rows.map(asLogRow)
}

const DAY_MS = 24 * 3600 * 1000
/** How much the clocks of processes and of Postgres may differ. */
const CLOCK_MARGIN_MS = 60_000
/**
 * A row is written at the end of its attempt. A host with another `deliveryTimeoutMs` may make longer
 * attempts than this one.
 */
const LEAST_BEFORE_WRITTEN_MS = 10 * 60_000

/** The range of the ids of the rows: an id begins with the time at which the row was written. */
function idsOf(
  days: number,
  { since, until, after }: Record<'since' | 'until' | 'after', string | undefined>,
  longestAttemptMs: number,
): { first: string; end: string | null } {
  const kept = Date.now() - days * DAY_MS
  const from = since === undefined ? kept : Math.max(kept, Date.parse(since) - CLOCK_MARGIN_MS)
  const writtenWithinMs = Math.max(LEAST_BEFORE_WRITTEN_MS, longestAttemptMs + CLOCK_MARGIN_MS)
  const last = until === undefined ? null : firstIdOf(Date.parse(until) + writtenWithinMs)
  const ends = [last, after?.toLowerCase() ?? null].filter((id) => id !== null).toSorted()
  return { first: firstIdOf(from), end: ends[0] ?? null }
}

/** The smallest UUIDv7 of a moment. */
const firstIdOf = (ms: number): string => {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** A host may have set parsers in pg that turn timestamps into something else than dates. */
function asLogRow({
  attemptedAt,
  nextAttemptAt,
  url,
  ...row
}: Omit<LogRow, 'url'> & { url: string | null }): LogRow {
  return {
    ...row,
    attemptedAt: isoOf(attemptedAt),
    nextAttemptAt: nextAttemptAt && isoOf(nextAttemptAt),
    ...(url === null ? {} : { url }),
  }
}

const isoOf = (time: Date | string): string => new Date(time).toISOString()
