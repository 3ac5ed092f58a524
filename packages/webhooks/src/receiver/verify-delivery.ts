import { createHmac, timingSafeEqual } from 'node:crypto'
import { checkedBody, checkedSecrets, checkedTolerance } from './checked-options.ts'
import { InvalidDelivery } from './invalid-delivery.ts'

/** The body of a delivery. */
export interface Delivery<Payload = unknown> {
  /** Name of the event. */
  event: string
  payload: Payload
  /** The same over all attempts of one delivery: deduplicate by it. */
  deliveryId: string
}

/** What `verifyDelivery` needs of a request. */
export interface VerifyDeliveryOptions {
  /** Node's headers, or those of a fetch `Request`. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body as it was received: text or bytes, not what a JSON parser has made of it. */
  body: string | Uint8Array
  /** The webhook's secret, whole (`whsec_…`), or several of them between two rotations. */
  secret: string | readonly string[]
  /** How far the timestamp may be from now, in seconds, into the past and into the future. @default 300 */
  toleranceSeconds?: number
}

/**
 * Verifies a delivery and returns its parsed body.
 *
 * For a while after a rotation a delivery is signed with both secrets: with the new one in
 * `X-Svc-Signature`, with the old one in `X-Svc-Signature-Previous`. Either may match.
 *
 * @throws InvalidDelivery for a request that is not one of our deliveries, InvalidVerification for
 *   wrong options
 * @example
 * const { event, payload, deliveryId } = verifyDelivery({
 *   headers: request.headers,
 *   body: rawBody,
 *   secret: process.env.WEBHOOK_SECRET!,
 * })
 */
export function verifyDelivery<Payload = unknown>({
  headers,
  body,
  secret,
  toleranceSeconds = 300,
}: VerifyDeliveryOptions): Delivery<Payload> {
  const secrets = checkedSecrets(secret)
  const bytes = checkedBody(body)
  const timestamp = neededHeader(headers, 'x-svc-timestamp')
  checkTimestamp(timestamp, checkedTolerance(toleranceSeconds))
  const signatures = readSignatures(headers)
  if (!isSigned(`${timestamp}.`, bytes, secrets, signatures)) {
    throw new InvalidDelivery(
      'SVC_DELIVERY_SIGNATURE_MISMATCH',
      'no signature of the delivery matches: is it the right secret, and the body as it was received?',
    )
  }
  return parse<Payload>(bytes)
}

function isSigned(
  start: string,
  body: Uint8Array,
  secrets: readonly string[],
  signatures: readonly Buffer[],
): boolean {
  let matches = false
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(start).update(body).digest()
    for (const signature of signatures) {
      // No early return: the time does not tell which one matched.
      if (timingSafeEqual(signature, expected)) matches = true
    }
  }
  return matches
}

/** The well-formed signatures of both headers: Node's hex decoder stops at other characters. */
function readSignatures(headers: VerifyDeliveryOptions['headers']): Buffer[] {
  const values = [
    soleHeader(headers, 'x-svc-signature'),
    soleHeader(headers, 'x-svc-signature-previous'),
  ].filter((value) => value !== undefined)
  if (values.length === 0) throw missing('x-svc-signature')
  return values
    .filter((value) => /^sha256=[0-9a-f]{64}$/i.test(value))
    .map((value) => Buffer.from(value.slice('sha256='.length), 'hex'))
}

function neededHeader(headers: VerifyDeliveryOptions['headers'], name: string): string {
  const value = soleHeader(headers, name)
  if (value === undefined) throw missing(name)
  return value
}

function missing(name: string): InvalidDelivery {
  return new InvalidDelivery(
    'SVC_DELIVERY_HEADER_MISSING',
    `the header ${name} is missing, or came more than once`,
  )
}

/** Frameworks differ in the case of header names, and in how they show repeated headers. */
function soleHeader(headers: VerifyDeliveryOptions['headers'], name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined
  const values = Object.entries(headers)
    .filter(([given]) => given.toLowerCase() === name)
    .flatMap(([, value]) => value ?? [])
  return values.length === 1 ? values[0] : undefined
}

/** By its methods: a library may have a `Headers` class of its own. */
function isHeaders(headers: VerifyDeliveryOptions['headers']): headers is Headers {
  return typeof headers['get'] === 'function'
}

function checkTimestamp(timestamp: string, toleranceSeconds: number): void {
  const nowSeconds = Math.floor(Date.now() / 1000)
  const isTimely =
    /^\d{1,13}$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= toleranceSeconds
  if (isTimely) return
  throw new InvalidDelivery(
    'SVC_DELIVERY_OUTSIDE_TOLERANCE',
    `the timestamp of the delivery is not within ${toleranceSeconds} seconds of now`,
  )
}

function parse<Payload>(body: Uint8Array): Delivery<Payload> {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Delivery<Payload>
  } catch {
    throw new InvalidDelivery('SVC_DELIVERY_BODY_NOT_JSON', 'the body of the delivery is not JSON')
  }
}
