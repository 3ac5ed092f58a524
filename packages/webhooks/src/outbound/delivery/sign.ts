import { createHmac } from 'node:crypto'
import { hmacOf } from '../../hmac-of.ts'
import { ed25519Signature, type SigningKey } from './ed25519.ts'

/** The body to send. Exactly these bytes are signed. */
export interface Message {
  event: string
  deliveryId: string
  /** 1, 2, … over all attempts of one delivery. */
  attempt: number
  /** The tenant of the event, where the receiver gets the events of all tenants. */
  tenant?: string | null | undefined
  body: Buffer
}

export interface Signing {
  secret: string
  /** The secret before the last rotation, while deliveries are signed with both. */
  previousSecret: string | null
  /** Whether the headers of Standard Webhooks 1.0 are sent as well. */
  standardWebhooks: boolean
  /** Signs with ed25519 as well, in the headers of Standard Webhooks. */
  ed25519?: SigningKey | null
}

/** The body of a delivery. The payload is inserted as JSON text: its numbers and key order survive. */
export function deliveryBody(event: string, payload: string, deliveryId: string): Buffer {
  return Buffer.from(
    `{"event":${JSON.stringify(event)},"payload":${payload},"deliveryId":"${deliveryId}"}`,
  )
}

/** The headers that describe a delivery and sign it, as a flat list of names and values. */
export function signedHeaders(message: Message, signing: Signing, timestamp: number): string[] {
  const { secret, previousSecret, standardWebhooks, ed25519 = null } = signing
  const headers = [
    'X-Svc-Signature',
    signature(secret, timestamp, message.body),
    'X-Svc-Timestamp',
    String(timestamp),
    'X-Svc-Delivery-Id',
    message.deliveryId,
    'X-Svc-Event',
    message.event,
    'X-Svc-Attempt',
    String(message.attempt),
  ]
  if (message.tenant) headers.push('X-Svc-Tenant', message.tenant)
  if (previousSecret !== null) {
    headers.push('X-Svc-Signature-Previous', signature(previousSecret, timestamp, message.body))
  }
  if (standardWebhooks || ed25519 !== null)
    headers.push(...standardHeaders(message, signing, timestamp))
  return headers
}

function signature(secret: string, timestamp: number, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`
}

function standardHeaders(
  { deliveryId, body }: Message,
  signing: Signing,
  timestamp: number,
): string[] {
  const secrets =
    signing.previousSecret === null ? [signing.secret] : [signing.secret, signing.previousSecret]
  const signatures = secrets.map((secret) => standardSignature(secret, deliveryId, timestamp, body))
  if (signing.ed25519) {
    signatures.push(ed25519Signature(signing.ed25519, deliveryId, timestamp, body))
  }
  return [
    'webhook-id',
    deliveryId,
    'webhook-timestamp',
    String(timestamp),
    'webhook-signature',
    signatures.join(' '),
  ]
}

/** Standard Webhooks 1.0, "Signature scheme": the key is the decoded base64 after `whsec_`. */
function standardSignature(secret: string, id: string, timestamp: number, body: Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${hmacOf('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}
