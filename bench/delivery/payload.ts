import { now } from '../measure/clock.ts'

/** Bytes of a payload's JSON text. */
export const PAYLOAD_BYTES = 500

export interface Payload {
  /** The moment of its publish, for the receiver to subtract. */
  sentAt: number
  order: number
  note: string
}

/** A payload of about `PAYLOAD_BYTES`, sent now. */
export function payloadOf(order: number): Payload {
  const payload = { sentAt: now(), order, note: '' }
  payload.note = 'x'.repeat(PAYLOAD_BYTES - JSON.stringify(payload).length)
  return payload
}
