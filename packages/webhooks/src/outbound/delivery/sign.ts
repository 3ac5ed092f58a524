import { ownSignature, standardSignature } from '@svc/receiver/internal'
import type { HeaderNames } from '../settings/header-names.ts'
import { ed25519Signature, type SigningKey } from './ed25519.ts'

/** The body to send. Exactly these bytes are signed. */
export interface Message {
  event: string
  deliveryId: string
  /** 1, 2, … over all attempts of one delivery. */
  attempt: number
  /** A test: it shows whether the receiver works, and no event has happened. */
  isTest?: boolean | undefined
  /** The tenant of the event, where the receiver gets the events of all tenants. */
  tenant?: string | null | undefined
  body: Buffer
}

export interface Signing {
  secret: string
  /** The secrets before the last rotations that are still valid, newest first. */
  previousSecrets: readonly string[]
  /** Whether the headers of Standard Webhooks 1.0 are sent as well. */
  standardWebhooks: boolean
  /** Sign with ed25519 as well, in the headers of Standard Webhooks. */
  ed25519?: readonly SigningKey[]
}

/** The body of a delivery. The payload is inserted as JSON text: its numbers and key order survive. */
export function deliveryBody(event: string, payload: string, deliveryId: string): Buffer {
  return Buffer.from(
    `{"event":${JSON.stringify(event)},"payload":${payload},"deliveryId":"${deliveryId}"}`,
  )
}

/** The headers that describe a delivery, as a flat list of names and values. */
export function describingHeaders(message: Message, names: HeaderNames): string[] {
  const headers = [
    names.deliveryId,
    message.deliveryId,
    names.event,
    message.event,
    names.attempt,
    String(message.attempt),
  ]
  if (message.tenant) headers.push(names.tenant, message.tenant)
  if (message.isTest === true) headers.push(names.test, 'true')
  return headers
}

/** The headers that sign a delivery, likewise. */
export function signingHeaders(
  message: Message,
  signing: Signing,
  timestamp: number,
  names: HeaderNames,
): string[] {
  const { secret, previousSecrets, standardWebhooks, ed25519 = [] } = signing
  const headers = [
    names.signature,
    ownSignature(secret, timestamp, message.body),
    names.timestamp,
    String(timestamp),
  ]
  const [previousSecret] = previousSecrets
  if (previousSecret !== undefined) {
    headers.push(names.signaturePrevious, ownSignature(previousSecret, timestamp, message.body))
  }
  // Receivers compare each of our signatures whole: only the header of Standard Webhooks lists several.
  if (standardWebhooks || ed25519.length > 0 || previousSecrets.length > 1) {
    headers.push(...standardHeaders(message, signing, timestamp))
  }
  return headers
}

function standardHeaders(
  { deliveryId, body }: Message,
  signing: Signing,
  timestamp: number,
): string[] {
  const { secret, previousSecrets, ed25519 = [] } = signing
  const signatures = [
    ...[secret, ...previousSecrets].map((one) =>
      standardSignature(one, deliveryId, timestamp, body),
    ),
    ...ed25519.map((key) => ed25519Signature(key, deliveryId, timestamp, body)),
  ]
  return [
    'webhook-id',
    deliveryId,
    'webhook-timestamp',
    String(timestamp),
    'webhook-signature',
    signatures.join(' '),
  ]
}
