/** `v1a` of Standard Webhooks 1.0: an ed25519 signature, verified with the public key of the webhook. */
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { DeliveryHeaders } from './headers.ts'
import { InvalidVerification } from './invalid-delivery.ts'
import { standardSignatures } from './standard-signatures.ts'

export const PUBLIC_KEY_PREFIX = 'whpk_'
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** RFC 8410, section 4: the bytes before the 32 bytes of a key in its SubjectPublicKeyInfo. */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** @throws InvalidVerification */
export function parsePublicKey(text: string): KeyObject {
  const base64 = text.startsWith(PUBLIC_KEY_PREFIX) ? text.slice(PUBLIC_KEY_PREFIX.length) : ''
  const raw = Buffer.from(base64, 'base64')
  // Node's decoder skips what is not base64: a mistyped key would become another key.
  if (raw.length !== KEY_BYTES || raw.toString('base64') !== base64) {
    throw new InvalidVerification(
      'verifyDelivery: a public key must be "whpk_" and the base64 of 32 bytes',
    )
  }
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' })
}

/** @throws InvalidDelivery where a header is missing, or the timestamp is too far from now */
export function hasEd25519(
  headers: DeliveryHeaders,
  body: Uint8Array,
  keys: readonly KeyObject[],
  toleranceSeconds: number,
): boolean {
  const { signed, signatures } = standardSignatures(headers, 'v1a,', toleranceSeconds)
  const message = Buffer.concat([Buffer.from(signed), body])
  return signatures
    .filter(({ length }) => length === SIGNATURE_BYTES)
    .some((signature) => keys.some((key) => verify(null, message, key, signature)))
}
