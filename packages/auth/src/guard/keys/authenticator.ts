/**
 * Decides about a key where the guard cannot decide from the cache: the key is not in it, the cache
 * may be out of date, or its prefix has failed attempts. It may query Postgres.
 */
import { formatOf, LONGEST_KEY, prefixOf, type KeyFormat } from '../../key-format.ts'
import { CannotDecide, UNKNOWN_KEY, type KeyFailure, type PrefixBlocked } from '../auth-failure.ts'
import { unwatchedPrefix, type Lockout } from '../lockout/lockout.ts'
import type { Allowances } from '../../limits/allowances.ts'
import type { Plans } from '../../limits/plans.ts'
import type { BootstrapKey } from './bootstrap-key.ts'
import type { CacheLease } from './cache-lease.ts'
import {
  type CachedKey,
  createCachedKey,
  isExpired,
  isFailure,
  type KeyCache,
  type LookupResult,
} from './key-cache.ts'
import type { LookupBudgets } from './token-bucket.ts'

export interface AuthenticatorParts {
  keyCache: KeyCache
  lease: CacheLease
  bootstrapKey: BootstrapKey
  /** Of failed attempts that are counted. */
  failures: LookupBudgets
  /** `null` without the option `rateLimit`. */
  lockout: Lockout | null
  /** `null` without the option `plans`. */
  plans: Pick<Plans, 'of'> | null
  limitsOf: Allowances['limitsOf']
  /** The letters that the keys of this host begin with. */
  letters?: string
}

/** Visible ASCII: no key has another character. */
const KEY_TEXT = /^[\x21-\x7e]+$/

export const isKeyText = (key: string): boolean => key.length <= LONGEST_KEY && KEY_TEXT.test(key)

export class Authenticator {
  #parts: AuthenticatorParts

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts
  }

  /**
   * Counts failed attempts, and brings the limits of a valid key up to date with the plan of its tenant.
   * Rejects where it cannot decide: the caller must refuse then.
   */
  async authenticate(key: string, hash: string): Promise<CachedKey | KeyFailure | PrefixBlocked> {
    const result = await this.#identify(key, hash)
    if (!isFailure(result)) await this.#applyPlan(result)
    return result
  }

  /** @throws PlanUnknown */
  async #applyPlan(key: CachedKey): Promise<void> {
    const { plans, limitsOf } = this.#parts
    const { tenant } = key.auth
    if (plans === null || tenant === null || key.limited === null || key.plan?.isCurrent) return
    const plan = await plans.of(tenant)
    if (key.plan === plan) return
    key.limits = limitsOf(key.limited, plan.plan)
    key.plan = plan
  }

  async #identify(key: string, hash: string): Promise<CachedKey | KeyFailure | PrefixBlocked> {
    const { lockout } = this.#parts
    // What cannot be a key has no prefix to block. Postgres could not store all of its characters.
    if (lockout === null || !isKeyText(key)) return this.find(key, hash)
    const prefix = prefixOf(key)
    const blockedForMs = lockout.blockedForMs(prefix)
    if (blockedForMs > 0) return blocked(blockedForMs)
    const result = await this.find(key, hash)
    const forMs = isFailure(result)
      ? await this.#recordFailure(lockout, prefix, this.#formatOf(key))
      : await this.#recordSuccess(lockout, prefix, result)
    return forMs > 0 ? blocked(forMs) : result
  }

  /** Finds a key without counting a failed attempt: for callers in this process. */
  async find(key: string, hash: string): Promise<LookupResult> {
    const { keyCache, lease } = this.#parts
    if (!isKeyText(key)) return UNKNOWN_KEY
    if (!lease.isHeld()) await lease.renew()
    const result = keyCache.validKey(hash) ?? (await this.#lookUp(key, hash))
    if (isFailure(result) || !isExpired(result)) return result
    return { verdict: 'expired', keyId: result.auth.keyId }
  }

  async #lookUp(key: string, hash: string): Promise<LookupResult> {
    const { keyCache, bootstrapKey, lockout } = this.#parts
    await bootstrapKey.tryRead()
    // No await from here to `remember`: a secret that was replaced meanwhile would stay valid.
    const isBootstrap = bootstrapKey.matches(key)
    if (isBootstrap) {
      const prefix = lockout && unwatchedPrefix(prefixOf(key))
      const cached = createCachedKey(BOOTSTRAP, null, prefix)
      keyCache.remember(hash, cached)
      return cached
    }
    const format = this.#formatOf(key)
    const result =
      format === 'badChecksum' ? UNKNOWN_KEY : await keyCache.find(hash, { text: key, format })
    if (isFailure(result) && isBootstrap === undefined) {
      throw new CannotDecide('the bootstrap key cannot be read')
    }
    return result
  }

  #formatOf(key: string): KeyFormat {
    return formatOf(key, this.#parts.letters)
  }

  /** @returns for how long the prefix was blocked already, in milliseconds */
  async #recordFailure(lockout: Lockout, prefix: string, format: KeyFormat): Promise<number> {
    if (!this.#parts.failures[format].take()) {
      throw new CannotDecide('too many failed attempts to count')
    }
    return lockout.recordFailure(prefix)
  }

  async #recordSuccess(lockout: Lockout, prefix: string, key: CachedKey): Promise<number> {
    key.prefix = await lockout.recordSuccess(prefix)
    return lockout.blockedForMs(prefix)
  }
}

const BOOTSTRAP = { userId: null, scopes: ['admin'], bootstrap: true, keyId: null, tenant: null }

const blocked = (forMs: number): PrefixBlocked => ({ verdict: 'blocked', keyId: null, forMs })
