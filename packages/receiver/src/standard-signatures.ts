/** The headers of Standard Webhooks 1.0: several signatures, each with its version. */
import { neededHeader, type DeliveryHeaders } from './headers.ts'
import { checkTimestamp } from './timestamp.ts'

/** A sender needs five secrets and five keys at most: a longer list would only cost time. */
const MAX_SIGNATURES = 16

export interface StandardSignatures {
  /** What is signed, up to the body. */
  signed: string
  signatures: Buffer[]
}

/**
 * The signatures that begin with `version`.
 *
 * @throws InvalidDelivery where a header is missing, or the timestamp is too far from now
 */
export function standardSignatures(
  headers: DeliveryHeaders,
  version: 'v1,' | 'v1a,',
  toleranceSeconds: number,
): StandardSignatures {
  const id = neededHeader(headers, 'webhook-id')
  const timestamp = neededHeader(headers, 'webhook-timestamp')
  const signatures = neededHeader(headers, 'webhook-signature')
  checkTimestamp(timestamp, toleranceSeconds)
  return {
    signed: `${id}.${timestamp}.`,
    signatures: signatures
      .split(' ')
      .filter((signature) => signature.startsWith(version))
      .slice(0, MAX_SIGNATURES)
      .map((signature) => Buffer.from(signature.slice(version.length), 'base64')),
  }
}
