/** HMAC-SHA256 with the webhook's secret: `…-Signature`, and `v1` of Standard Webhooks 1.0. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { missingHeader, neededHeader, soleHeader, type DeliveryHeaders } from './headers.ts'
import { standardSignatures } from './standard-signatures.ts'
import { checkTimestamp } from './timestamp.ts'

/** @throws InvalidDelivery where a header is missing, or the timestamp is too far from now */
export function hasHmac(
  headers: DeliveryHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  toleranceSeconds: number,
  prefix: string,
): boolean {
  const timestamp = neededHeader(headers, `${prefix}timestamp`)
  checkTimestamp(timestamp, toleranceSeconds)
  const isOwn = isAnyEqual(
    readSignatures(headers, prefix),
    secrets.map((secret) => hmac(secret, `${timestamp}.`, body)),
  )
  // The secrets before the last two rotations sign only here.
  return isOwn || hasStandardHmac(headers, body, secrets, toleranceSeconds)
}

function hasStandardHmac(
  headers: DeliveryHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  toleranceSeconds: number,
): boolean {
  if (soleHeader(headers, 'webhook-signature') === undefined) return false
  const { signed, signatures } = standardSignatures(headers, 'v1,', toleranceSeconds)
  const keys = secrets.map(keyOf).filter((key) => key !== null)
  return isAnyEqual(
    signatures,
    keys.map((key) => hmac(key, signed, body)),
  )
}

const hmac = (key: string | Buffer, head: string, body: Uint8Array): Buffer =>
  createHmac('sha256', key).update(head).update(body).digest()

/** No early return, so that the duration does not reveal which one matched. */
function isAnyEqual(signatures: readonly Buffer[], expected: readonly Buffer[]): boolean {
  let isAny = false
  for (const one of expected) {
    for (const signature of signatures) {
      if (signature.length === one.length && timingSafeEqual(signature, one)) isAny = true
    }
  }
  return isAny
}

const SHORTEST_KEY_BYTES = 16

/** Standard Webhooks 1.0: the bytes after `whsec_`. `null` where these are none that a sender makes. */
function keyOf(secret: string): Buffer | null {
  if (!secret.startsWith('whsec_')) return Buffer.from(secret)
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  // Of a mistyped secret nothing may be left: anyone could sign with an empty key.
  return key.length < SHORTEST_KEY_BYTES ? null : key
}

/** The well-formed signatures of both headers: Node's hex decoder stops at other characters. */
function readSignatures(headers: DeliveryHeaders, prefix: string): Buffer[] {
  const values = [
    soleHeader(headers, `${prefix}signature`),
    soleHeader(headers, `${prefix}signature-previous`),
  ].filter((value) => value !== undefined)
  if (values.length === 0) throw missingHeader(`${prefix}signature`)
  return values
    .filter((value) => /^sha256=[0-9a-f]{64}$/i.test(value))
    .map((value) => Buffer.from(value.slice('sha256='.length), 'hex'))
}
