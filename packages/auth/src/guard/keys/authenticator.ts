/**
 * From the text of a key to who holds it: the way that may ask Postgres, for keys that this process
 * does not remember, or cannot trust itself about at the moment.
 */
import { LONGEST_KEY, prefixOf, shapeOf, type Shape } from '../../key-format.ts'
import type { BootstrapKey } from './bootstrap-key.ts'
import { isRejection, UNKNOWN, type Finding, type Keyring, type Rejection } from './key-cache.ts'
import { isExpired, knownKey, type KnownKey } from './cached-key.ts'
import type { Lease } from './cache-lease.ts'
import type { MissBudgets } from './token-bucket.ts'
import { unwatched, type RateLimiter } from '../lockout/lockout.ts'

/** The prefix is blocked; the key was not looked at. */
export interface Block {
  readonly verdict: 'blocked'
  readonly keyId: null
  readonly forMs: number
}

export interface RecognizerParts {
  keyring: Keyring
  lease: Lease
  bootstrapKey: BootstrapKey
  budgets: MissBudgets
  /** `null` without a rate limit. */
  limiter: RateLimiter | null
}

/** Why nothing can be said of a key at the moment. */
export class Undecided extends Error {}

/** Visible ASCII: nobody's key has anything else. */
const KEY_TEXT = /^[\x21-\x7e]+$/

export const isKeyText = (key: string): boolean => key.length <= LONGEST_KEY && KEY_TEXT.test(key)

export class Recognizer {
  #parts: RecognizerParts

  constructor(parts: RecognizerParts) {
    this.#parts = parts
  }

  /** Counts what fails. Rejects where it cannot tell, which must never let a request pass. */
  async recognize(key: string, digest: string): Promise<KnownKey | Rejection | Block> {
    const { limiter } = this.#parts
    if (limiter === null) return this.find(key, digest)
    const prefix = prefixOf(key)
    const blockedForMs = limiter.blockedForMs(prefix)
    if (blockedForMs > 0) return block(blockedForMs)
    const finding = await this.find(key, digest)
    const forMs = isRejection(finding)
      ? await this.#fail(limiter, prefix, shapeOf(key))
      : await this.#succeed(limiter, prefix, finding)
    return forMs > 0 ? block(forMs) : finding
  }

  /** The same without counting: for callers in this process. */
  async find(key: string, digest: string): Promise<Finding> {
    const { keyring, lease } = this.#parts
    if (!isKeyText(key)) return UNKNOWN
    if (!lease.isHeld()) await lease.renew()
    const finding = keyring.known(digest) ?? (await this.#ask(key, digest))
    if (isRejection(finding) || !isExpired(finding)) return finding
    return { verdict: 'expired', keyId: finding.auth.keyId }
  }

  async #ask(key: string, digest: string): Promise<Finding> {
    const { keyring, bootstrapKey, limiter } = this.#parts
    await bootstrapKey.settled()
    // Nothing is awaited from here to `remember`: a secret that was replaced meanwhile would stay.
    const isBootstrap = bootstrapKey.matches(key)
    if (isBootstrap) {
      const known = knownKey(BOOTSTRAP, null, limiter && unwatched(prefixOf(key)))
      keyring.remember(digest, known)
      return known
    }
    const shape = shapeOf(key)
    const finding = shape === 'mistyped' ? UNKNOWN : await keyring.find(digest, shape)
    if (isRejection(finding) && isBootstrap === undefined) {
      throw new Undecided('the bootstrap key cannot be read')
    }
    return finding
  }

  /** How long the prefix was blocked already. */
  async #fail(limiter: RateLimiter, prefix: string, shape: Shape): Promise<number> {
    if (!this.#parts.budgets[shape].take()) throw new Undecided('too many failed attempts to count')
    return limiter.fail(prefix)
  }

  async #succeed(limiter: RateLimiter, prefix: string, known: KnownKey): Promise<number> {
    known.prefix = await limiter.care(prefix)
    return limiter.blockedForMs(prefix)
  }
}

const BOOTSTRAP = { userId: null, scopes: ['admin'], bootstrap: true, keyId: null }

const block = (forMs: number): Block => ({ verdict: 'blocked', keyId: null, forMs })
