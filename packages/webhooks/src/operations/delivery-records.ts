/**
 * How rows of the log and dead letters are shown. Payloads stay JSON text as long as they can:
 * parsed, big numbers would not come out as they went in.
 */
import { findPayloadSizes, findPayloads, type DeadLetter } from '@svc/core/internal'
import type { Db } from '@svc/core'
import type { LogRow } from '../tables/delivery-log.ts'
import type { DeliveryRecord } from '../schemas.ts'
import { lostAttempt, type Attempt } from '../outbound/delivery/attempt.ts'
import { attemptsOf, deliveryJobOf, keyOf } from '../outbound/delivery/delivery-job.ts'
import { rowOf } from '../outbound/delivery/log-entry.ts'

/** A dead letter has the shape of a record, that of its last attempt, under its own id. */
export function recordsOfDead(letters: DeadLetter[]): LogRow[] {
  return letters.map((letter) => {
    const { output, deadAt } = letter
    const last = isAttempt(output) ? output : lostAttempt(attemptsOf(letter), deadAt)
    return { ...rowOf(deliveryJobOf(letter), last, 'dead', null), id: letter.id }
  })
}

export const parsed = ({ payload, ...record }: LogRow): DeliveryRecord => ({
  ...record,
  payload: payload === null ? null : JSON.parse(payload),
})

/** As JSON, with the payload as the text that was published. */
export const jsonOf = ({ payload, ...record }: LogRow): string =>
  `${JSON.stringify(record).slice(0, -1)},"payload":${payload ?? 'null'}}`

/** The first of these records whose payloads have at most so many bytes together; at least one. */
export async function fittingPage(db: Db, records: LogRow[], pageBytes: number): Promise<LogRow[]> {
  const events = [...eventsOf(records).values()]
  const sizes = new Map(
    (events.length === 0 ? [] : await findPayloadSizes(db, events)).map(({ name, id, bytes }) => [
      keyOf(name, id),
      bytes,
    ]),
  )
  let bytes = 0
  const end = records.findIndex(({ event, eventId, payload }, index) => {
    bytes += payload?.length ?? sizes.get(keyOf(event, eventId)) ?? 0
    return bytes > pageBytes && index > 0
  })
  return end === -1 ? records : records.slice(0, end)
}

/** Fills in the payloads that stand in events. */
export async function withPayloads(db: Db, records: LogRow[]): Promise<LogRow[]> {
  const wanted = eventsOf(records)
  const events = wanted.size === 0 ? [] : await findPayloads(db, [...wanted.values()])
  const payloads = new Map(events.map(({ name, id, payload }) => [keyOf(name, id), payload]))
  return records.map((record) => {
    const { event, eventId, payload } = record
    return { ...record, payload: payload ?? payloads.get(keyOf(event, eventId)) ?? null }
  })
}

/** Each once: the attempts of one event may be many. */
const eventsOf = (records: LogRow[]): Map<string, { name: string; id: string }> =>
  new Map(
    records.flatMap(({ event: name, eventId: id }) =>
      id === null ? [] : [[keyOf(name, id), { name, id }]],
    ),
  )

const isAttempt = (output: unknown): output is Attempt =>
  typeof output === 'object' && output !== null && 'attemptedAt' in output
