/** The asymmetric signatures of Standard Webhooks 1.0: `v1a`, keys `whsk_` and `whpk_`. */
import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'

const SEED_BYTES = 32
/** RFC 8410, section 7: the bytes before the seed in a PKCS #8 key. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface SigningKey {
  privateKey: KeyObject
  /** `whpk_…`, for receivers. */
  publicKey: string
}

/** `null` where it is not `whsk_` and the base64 of a seed, or of a seed and its public key. */
export function parseSigningKey(secret: string): SigningKey | null {
  const base64 = /^whsk_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? ''
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length !== SEED_BYTES && bytes.length !== 2 * SEED_BYTES) return null
  const der = Buffer.concat([PKCS8_HEAD, bytes.subarray(0, SEED_BYTES)])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const raw = spki.subarray(-SEED_BYTES)
  // Another public key than the seed's: one of both is mistyped.
  if (bytes.length > SEED_BYTES && !raw.equals(bytes.subarray(SEED_BYTES))) return null
  return { privateKey, publicKey: `whpk_${raw.toString('base64')}` }
}

/** Standard Webhooks 1.0, "Signature scheme". */
export function ed25519Signature(
  { privateKey }: SigningKey,
  id: string,
  timestamp: number,
  body: Buffer,
): string {
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  return `v1a,${sign(null, signed, privateKey).toString('base64')}`
}
