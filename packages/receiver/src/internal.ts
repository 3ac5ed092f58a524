/**
 * The signatures of a delivery, as its senders make them: @svc/webhooks, and `svc listen`. No part of the public
 * interface. `timestamp` is a Unix second.
 */
import { createHmac, createSecretKey } from 'node:crypto'

/** The header `…-Signature`. */
export function ownSignature(secret: string, timestamp: number, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`
}

/** One signature of the header `webhook-signature` of Standard Webhooks 1.0. */
export function standardSignature(
  secret: string,
  id: string,
  timestamp: number,
  body: Uint8Array,
): string {
  // Node 24.21 first checks whether a key of bytes is a `CryptoKey`, which takes several times as long as the
  // HMAC (RFC 2104). It does not check that of a `KeyObject`.
  const hmac = createHmac('sha256', createSecretKey(standardKey(secret)))
  return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}

const STANDARD_PREFIX = 'whsec_'

/**
 * The key of Standard Webhooks 1.0, "Signature scheme": the base64 after `whsec_`. Of a secret that another
 * system has made it is the bytes of the text.
 */
const standardKey = (secret: string): Buffer =>
  secret.startsWith(STANDARD_PREFIX)
    ? Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
    : Buffer.from(secret)
