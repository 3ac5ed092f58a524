import { checkedBody, checkedKeys, checkedPrefix, checkedTolerance } from './checked-options.ts'
import { hasEd25519 } from './ed25519.ts'
import type { DeliveryHeaders } from './headers.ts'
import { hasHmac } from './hmac.ts'
import { InvalidDelivery } from './invalid-delivery.ts'

/** The body of a delivery. */
export interface Delivery<Payload = unknown> {
  /** Name of the event. */
  event: string
  payload: Payload
  /** Stays the same over all attempts of one delivery: deduplicate by it. */
  deliveryId: string
}

/** What `verifyDelivery` needs of a request: `secret` or `publicKey`; of several any may match. */
export interface VerifyDeliveryOptions {
  /** Node's headers, or those of a fetch `Request`. */
  headers: DeliveryHeaders
  /** The body as it was received: text or bytes, not what a JSON parser has made of it. */
  body: string | Uint8Array
  /** The webhook's secret with its prefix (`whsec_…`), or several of them between two rotations. */
  secret?: string | readonly string[] | undefined
  /**
   * The webhook's public key (`whpk_…`), or several of them: verifies the ed25519 signature in
   * `webhook-signature`, which senders with the option `ed25519` add. Each webhook has a key of its own.
   */
  publicKey?: string | readonly string[] | undefined
  /** How far the timestamp may be from now, in seconds, into the past and into the future. @default 300 */
  toleranceSeconds?: number | undefined
  /**
   * What the names of the sender's headers begin with: its option `headerPrefix`. Those of Standard Webhooks
   * have no other names.
   * @default 'X-Svc-'
   */
  headerPrefix?: string | undefined
}

/**
 * Verifies a delivery and returns its parsed body.
 *
 * For a while after a rotation a delivery is signed with the old secrets as well: with the new one in
 * `X-Svc-Signature`, with the one before in `X-Svc-Signature-Previous`, and where there are more, with
 * each of them in `webhook-signature`. Any of them may match.
 *
 * @throws InvalidDelivery for a request that is not one of our deliveries, InvalidVerification for
 *   wrong options
 * @example
 * const { event, payload, deliveryId } = verifyDelivery({
 *   headers: request.headers,
 *   body: rawBody,
 *   secret: process.env.WEBHOOK_SECRET!,
 * })
 * @see https://www.standardwebhooks.com for `webhook-signature`, which `publicKey` verifies
 */
export function verifyDelivery<Payload = unknown>({
  headers,
  body,
  secret,
  publicKey,
  toleranceSeconds = 300,
  headerPrefix = 'X-Svc-',
}: VerifyDeliveryOptions): Delivery<Payload> {
  const { secrets, publicKeys } = checkedKeys(secret, publicKey)
  const bytes = checkedBody(body)
  const tolerance = checkedTolerance(toleranceSeconds)
  const prefix = checkedPrefix(headerPrefix)
  const checks: (() => boolean)[] = []
  if (publicKeys.length > 0) checks.push(() => hasEd25519(headers, bytes, publicKeys, tolerance))
  if (secrets.length > 0) checks.push(() => hasHmac(headers, bytes, secrets, tolerance, prefix))
  if (!isOneTrue(checks)) {
    throw new InvalidDelivery(
      'SVC_DELIVERY_SIGNATURE_MISMATCH',
      'no signature of the delivery matches: is it the right key, and the body as it was received?',
    )
  }
  return parse<Payload>(bytes)
}

/** A delivery may lack what the first check needs. The reason that is given is that of the last. */
function isOneTrue(checks: (() => boolean)[]): boolean {
  return checks.some((check, index) => {
    if (index === checks.length - 1) return check()
    try {
      return check()
    } catch {
      return false
    }
  })
}

function parse<Payload>(body: Uint8Array): Delivery<Payload> {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Delivery<Payload>
  } catch {
    throw new InvalidDelivery('SVC_DELIVERY_BODY_NOT_JSON', 'the body of the delivery is not JSON')
  }
}
