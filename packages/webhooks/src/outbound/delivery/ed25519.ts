/** The asymmetric signatures of Standard Webhooks 1.0: `v1a`, keys `whsk_` and `whpk_`. */
import { createPrivateKey, createPublicKey, hkdfSync, sign, type KeyObject } from 'node:crypto'

const SEED_BYTES = 32
/** RFC 8410, section 7: the bytes before the seed in a PKCS #8 key. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
/** How many webhooks have their keys kept, in some megabytes: deriving a key takes as long as signing with it. */
const MOST_KNOWN = 10_000

export interface SigningKey {
  privateKey: KeyObject
  /** `whpk_…`, for receivers. */
  publicKey: string
}

/** `null` where it is not `whsk_` and the base64 of a seed, or of a seed and its public key. */
export function parseSeed(secret: string): Buffer | null {
  const base64 = /^whsk_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? ''
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length !== SEED_BYTES && bytes.length !== 2 * SEED_BYTES) return null
  const seed = bytes.subarray(0, SEED_BYTES)
  const given = bytes.subarray(SEED_BYTES)
  // Another public key than the seed's: one of both is mistyped.
  return given.length > 0 && !publicBytesOf(keyOf(seed)).equals(given) ? null : seed
}

/**
 * The keys of all webhooks. With one key for all of them, what is signed for the receiver of one would be
 * valid at every other.
 */
export class SigningKeys {
  #seeds: readonly Buffer[]
  /** By the id of the webhook; what was derived last is last. */
  #known = new Map<string, readonly SigningKey[]>()

  constructor(seeds: readonly Buffer[]) {
    this.#seeds = seeds
  }

  /** The keys of a webhook, one for each secret of the option. */
  of(webhookId: string): readonly SigningKey[] {
    const known = this.#known.get(webhookId)
    if (known !== undefined) return known
    const keys = this.derive(webhookId)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= MOST_KNOWN) this.#known.delete(oldest)
    this.#known.set(webhookId, keys)
    return keys
  }

  /** The keys of an id that anybody may have sent: they are not kept, and so displace no others. */
  derive(webhookId: string): readonly SigningKey[] {
    return this.#seeds.map((seed) => {
      const privateKey = keyOf(Buffer.from(hkdfSync('sha256', seed, '', webhookId, SEED_BYTES)))
      return { privateKey, publicKey: `whpk_${publicBytesOf(privateKey).toString('base64')}` }
    })
  }

  /** The public key of the first secret. */
  publicKeyOf(webhookId: string): string | undefined {
    return this.of(webhookId)[0]?.publicKey
  }
}

const keyOf = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })

const publicBytesOf = (privateKey: KeyObject): Buffer =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-SEED_BYTES)

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
