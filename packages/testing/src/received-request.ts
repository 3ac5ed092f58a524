/** What a receiver of a test records of a request. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { InvalidDelivery, verifyDelivery } from '@svc/receiver'

/** A request that a receiver has recorded. */
export interface ReceivedRequest {
  method: string
  /** Path and query. */
  url: string
  headers: IncomingHttpHeaders
  /** The parsed JSON; the text where it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the test knows what it published
  body: any
  /** The body as it came. */
  raw: string
  /** Whether the signature is right; null where no secret is known. */
  verified: boolean | null
  /** When it had arrived whole. */
  at: Date
}

/** A webhook's secret, or several. A public key (`whpk_…`) verifies what is signed with ed25519. */
export type ReceiverSecret = string | readonly string[]

/** @throws InvalidVerification where `secret` is not one, or `headerPrefix` none */
export function recordOf(
  { method = '', url = '', headers }: IncomingMessage,
  body: Buffer,
  secret: ReceiverSecret | undefined,
  headerPrefix: string,
): ReceivedRequest {
  const raw = body.toString()
  const verified = secret === undefined ? null : isSigned(headers, body, secret, headerPrefix)
  return { method, url, headers, body: parsed(raw), raw, verified, at: new Date() }
}

function isSigned(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: ReceiverSecret,
  headerPrefix: string,
): boolean {
  try {
    verifyDelivery({ headers, body, secret, headerPrefix })
    return true
  } catch (error) {
    if (!(error instanceof InvalidDelivery)) throw error
    // A transform may send another type. The signature is verified before the body is parsed.
    return error.code === 'SVC_DELIVERY_BODY_NOT_JSON'
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
