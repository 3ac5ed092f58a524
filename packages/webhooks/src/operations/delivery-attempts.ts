/**
 * Rows of the log and dead letters as the API shows them. Payloads stay JSON text wherever possible:
 * a parser rounds big numbers.
 */
import {
  findPayloadSizes,
  findPayloads,
  publishedEventId,
  tenantOfEvent,
  type DeadLetter,
} from '@svc/core/internal'
import type { Db } from '@svc/core'
import type { LogRow } from '../tables/delivery-log.ts'
import type { DeliveryAttempt } from '../delivery-schemas.ts'
import { crashedAttempt, type AttemptRecord } from '../outbound/delivery/attempt-record.ts'
import { attemptCountOf, eventKey, type DeliveryData } from '../outbound/delivery/delivery-job.ts'
import { rowOf } from '../outbound/delivery/log-entry.ts'

/** Shows each dead letter as the last attempt of its delivery, under the dead letter's own id. */
export function attemptsOfDead(letters: DeadLetter<DeliveryData>[]): LogRow[] {
  return letters.map((letter) => {
    const { output, deadAt } = letter
    const last = isRecord(output) ? output : crashedAttempt(attemptCountOf(letter), deadAt)
    return { ...rowOf(letter.data, last, 'dead', null), id: letter.id }
  })
}

export const parsed = ({ payload, testedUrl: _, ...row }: LogRow): DeliveryAttempt => ({
  ...row,
  payload: payload === null ? null : JSON.parse(payload),
})

/** JSON text in which the payload is the text that was published. */
export const jsonOf = ({ payload, testedUrl: _, ...row }: LogRow): string =>
  `${JSON.stringify(row).slice(0, -1)},"payload":${payload ?? 'null'}}`

/** The first of these rows whose payloads have at most `pageBytes` bytes together; at least one. */
export async function fittingPage(db: Db, rows: LogRow[], pageBytes: number): Promise<LogRow[]> {
  const events = [...eventsOf(rows).values()]
  const sizes = new Map(
    (events.length === 0 ? [] : await findPayloadSizes(db, events)).map(({ name, id, bytes }) => [
      eventKey(name, id),
      bytes,
    ]),
  )
  let bytes = 0
  const end = rows.findIndex(({ event, eventId, payload }, index) => {
    bytes += payload?.length ?? sizes.get(eventKey(event, eventId)) ?? 0
    return bytes > pageBytes && index > 0
  })
  return end === -1 ? rows : rows.slice(0, end)
}

/**
 * The rows as they are shown: with the payloads that events hold, and the ids and tenants that the
 * publishes gave.
 */
export async function withPayloads(db: Db, rows: LogRow[]): Promise<LogRow[]> {
  const wanted = eventsOf(rows)
  const events = wanted.size === 0 ? [] : await findPayloads(db, [...wanted.values()])
  const payloads = new Map(events.map(({ name, id, payload }) => [eventKey(name, id), payload]))
  return rows.map((row) => {
    const { event, eventId, payload } = row
    return shown(row, payload ?? payloads.get(eventKey(event, eventId)) ?? null)
  })
}

export const withoutPayloads = (rows: LogRow[]): LogRow[] => rows.map((row) => shown(row, null))

function shown(row: LogRow, payload: string | null): LogRow {
  const { eventId } = row
  const eventTenant = eventId && tenantOfEvent(eventId)
  return {
    ...row,
    eventId: eventId && publishedEventId(eventId),
    ...(eventTenant !== null && { eventTenant }),
    payload,
  }
}

/** The events of these rows, each once: one event may have many attempts. */
const eventsOf = (rows: LogRow[]): Map<string, { name: string; id: string }> =>
  new Map(
    rows.flatMap(({ event: name, eventId: id }) =>
      id === null ? [] : [[eventKey(name, id), { name, id }]],
    ),
  )

const isRecord = (output: unknown): output is AttemptRecord =>
  typeof output === 'object' && output !== null && 'attemptedAt' in output
