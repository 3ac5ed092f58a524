/**
 * How rows of the log and dead letters are shown. Payloads stay JSON text as long as they can:
 * parsed, big numbers would not come out as they went in.
 */
import { findPayloads, type DeadLetter } from '@svc/core/kit'
import type { Db } from '@svc/core'
import type { LogRow } from '../delivery-log.ts'
import type { DeliveryRecord } from '../schemas.ts'
import { lostAttempt, type Attempt } from './attempt.ts'
import { attemptsOf, deliveryJobOf, keyOf } from './job.ts'
import { rowOf } from './log-rows.ts'

/** A dead letter has the shape of a record, that of its last attempt, under its own id. */
export async function recordsOfDead(db: Db, letters: DeadLetter[]): Promise<LogRow[]> {
  const rows = letters.map((letter) => {
    const { output, deadAt } = letter
    const last = isAttempt(output) ? output : lostAttempt(attemptsOf(letter), deadAt)
    return { ...rowOf(deliveryJobOf(letter), last, 'dead', null), id: letter.id }
  })
  return await withPayloads(db, rows)
}

export const parsed = ({ payload, ...record }: LogRow): DeliveryRecord => ({
  ...record,
  payload: payload === null ? null : JSON.parse(payload),
})

/** As JSON, with the payload as the text that was published. */
export const jsonOf = ({ payload, ...record }: LogRow): string =>
  `${JSON.stringify(record).slice(0, -1)},"payload":${payload ?? 'null'}}`

/** Fills in the payloads that stand in events. */
export async function withPayloads(db: Db, records: LogRow[]): Promise<LogRow[]> {
  // Each once: the attempts of one event may be many.
  const wanted = new Map(
    records.flatMap(({ event: name, eventId: id }) =>
      id === null ? [] : [[keyOf(name, id), { name, id }]],
    ),
  )
  const events = wanted.size === 0 ? [] : await findPayloads(db, [...wanted.values()])
  const payloads = new Map(events.map(({ name, id, payload }) => [keyOf(name, id), payload]))
  return records.map((record) => {
    const { event, eventId, payload } = record
    return { ...record, payload: payload ?? payloads.get(keyOf(event, eventId)) ?? null }
  })
}

const isAttempt = (output: unknown): output is Attempt =>
  typeof output === 'object' && output !== null && 'attemptedAt' in output
