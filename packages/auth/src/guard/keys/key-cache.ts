/** The keys that this process remembers, valid or not, without their texts, and the lookups of others. */
import { createNetworks, type IsWithin } from '../../addresses.ts'
import type { KeyFormat } from '../../key-format.ts'
import { UNKNOWN_KEY, type KeyFailure } from '../auth-failure.ts'
import { BoundedMap } from '../bounded-map.ts'
import type { LimitedKey } from '../../limits/allowances.ts'
import type { MeterList } from '../../limits/meter-list.ts'
import { UNASKED, type TenantPlan } from '../../limits/plans.ts'
import { satisfies, type Scope } from '../../scopes.ts'
import { usageOf, type KeyUsage } from '../../usage/usage-counter.ts'
import type { PrefixState } from '../lockout/lockout.ts'
import type { Requirement } from '../policy/route-policy.ts'

/**
 * The caller: `request.auth`. All requests of a key share it, and therefore it is frozen.
 *
 * @example
 * app.get('/me', async (request) => ({ userId: request.auth?.userId ?? null }))
 */
export interface Auth {
  /** Owner of the key; `null` for the bootstrap key. */
  readonly userId: string | null
  /** The scopes that the key holds, those of its roles and namespaces among them. */
  readonly scopes: readonly Scope[]
  /** Whether the bootstrap key was used. */
  readonly bootstrap: boolean
  /** The id of the key, a UUID; `null` for the bootstrap key. */
  readonly keyId: string | null
  /** The customer of the host that the key belongs to; `null` for none. */
  readonly tenant: string | null
}

/** The checks of each request with a key, besides scopes. */
export interface RequestChecks {
  /** Whether the key may be used from an address; `null` where it may from all. */
  readonly mayComeFrom: IsWithin | null
}

/** The restrictions of a key, as its row has them. */
export interface Restrictions {
  allowedIps: readonly string[] | null
}

/** `null` for a key without restrictions, so that its requests pay for one comparison. */
export const checksOf = ({ allowedIps }: Restrictions): RequestChecks | null =>
  allowedIps === null ? null : { mayComeFrom: createNetworks(allowedIps) }

/**
 * The fields that are not read-only are notes of other modules, kept here because a request with
 * this key then finds them without a lookup of its own.
 */
export interface CachedKey {
  readonly auth: Auth
  /** Milliseconds since 1970; `null` where it never expires. */
  readonly expiresAt: number | null
  /** `null` for most keys. */
  readonly checks: RequestChecks | null
  /** `null` for a key without limits and quota. The authenticator writes them with the plan. */
  limits: MeterList | null
  /**
   * Written by the authenticator: the plan of its tenant. All keys of the tenant share it. `null` for a key
   * without a tenant, and without the option `plans`.
   */
  plan: TenantPlan | null
  /** What its limits under a plan are made from; `null` where it has none. */
  readonly limited: LimitedKey | null
  /** Written by `UsageCounter`. `null` for the bootstrap key. */
  readonly usage: KeyUsage | null
  /**
   * Written by the authenticator with the state that `Lockout` returns; the guard writes its
   * `lastUsedTick`. Keys of one prefix share it. `null` without the option `rateLimit`.
   */
  prefix: PrefixState | null
  /** Written by `LastUsed`: the tick in which it last recorded a use of this key. */
  recordedTick: number
  /** Written by `meets`: the requirement that the key met last. Most keys meet the same one again. */
  met: Requirement | null
}

export function createCachedKey(
  auth: Auth,
  expiresAt: number | null = null,
  prefix: PrefixState | null = null,
  checks: RequestChecks | null = null,
  limits: MeterList | null = null,
  limited: LimitedKey | null = null,
): CachedKey {
  const frozen = Object.freeze({ ...auth, scopes: Object.freeze([...auth.scopes]) })
  const usage = auth.keyId === null ? null : usageOf(auth.keyId)
  return {
    auth: frozen,
    expiresAt,
    checks,
    limits,
    plan: limited && UNASKED,
    limited,
    usage,
    prefix,
    recordedTick: -1,
    met: null,
  }
}

export function meets(key: CachedKey, requirement: Requirement): boolean {
  if (key.met === requirement) return true
  if (requirement.scopes !== null && !satisfies(key.auth.scopes, requirement.scopes)) return false
  key.met = requirement
  return true
}

/** An invalid date counts as expired. */
export const isExpired = (key: CachedKey): boolean =>
  key.expiresAt !== null && !(key.expiresAt > Date.now())

export type LookupResult = CachedKey | KeyFailure

export const isFailure = <Failure extends { verdict: string }>(
  result: CachedKey | Failure,
): result is Failure => 'verdict' in result

/** A result for the requests that wait for it. It is not remembered: no change of the key would name its hash. */
export class ForNow {
  readonly result: LookupResult

  constructor(result: LookupResult) {
    this.result = result
  }
}

/** What was presented, and the form of its text. */
export interface Presented {
  readonly text: string
  readonly format: KeyFormat
}

/** Reads one key from Postgres by its hash, within the budget of its format. */
export type LookUp = (hash: string, presented: Presented) => Promise<LookupResult | ForNow>

/** How many valid keys are remembered at most. The half of them that was used last is kept. */
const MAX_VALID_KEYS = 200_000
const MAX_REJECTED_KEYS = 10_000
/**
 * For how long a key without a row is remembered. No notification tells of a row that is inserted, as by
 * an import: such a key is accepted within that time.
 */
const UNKNOWN_MS = 900

interface PendingLookup {
  result: Promise<LookupResult>
  /** The key was changed, perhaps after it was read. */
  isStale: boolean
}

export class KeyCache {
  #valid = new BoundedMap<CachedKey>(MAX_VALID_KEYS)
  // Apart from the valid keys: a flood of unknown keys must not push them out.
  #rejected = new BoundedMap<KeyFailure>(MAX_REJECTED_KEYS)
  /** Until when the keys without a row are remembered. */
  #unknown = new BoundedMap<number>(MAX_REJECTED_KEYS)
  #pending = new Map<string, PendingLookup>()
  /** Keys that open transactions have changed, and how many. No result about such a key is remembered. */
  #changing = new Map<string, number>()
  #lookUp: LookUp
  #now: () => number

  /** `now`: milliseconds of a monotonic clock. */
  constructor(lookUp: LookUp, now = () => performance.now()) {
    this.#lookUp = lookUp
    this.#now = now
  }

  validKey(hash: string): CachedKey | undefined {
    return this.#valid.get(hash)
  }

  remember(hash: string, key: CachedKey): void {
    this.#valid.set(hash, key)
  }

  /** Concurrent lookups of one key share one query. Rejected keys need none for a while. */
  async find(hash: string, presented: Presented): Promise<LookupResult> {
    // A lookup that was sent before the commit must not answer a request that came after it.
    if (this.#changing.has(hash)) return resultOf(await this.#lookUp(hash, presented))
    const remembered = this.#valid.get(hash) ?? this.#rejected.get(hash)
    if (remembered) return remembered
    if ((this.#unknown.get(hash) ?? 0) > this.#now()) return UNKNOWN_KEY
    const known = this.#pending.get(hash)
    if (known) return known.result
    const pending = { result: NO_RESULT, isStale: false }
    this.#pending.set(hash, pending)
    pending.result = this.#query(hash, presented, pending).finally(() => this.#pending.delete(hash))
    return pending.result
  }

  forget(hashes: readonly string[]): void {
    for (const hash of hashes) {
      this.#valid.delete(hash)
      this.#rejected.delete(hash)
      this.#unknown.delete(hash)
      const pending = this.#pending.get(hash)
      if (pending) pending.isStale = true
    }
  }

  forgetAll(): void {
    this.#valid.clear()
    this.#rejected.clear()
    this.#unknown.clear()
    for (const pending of this.#pending.values()) pending.isStale = true
  }

  /** A transaction that is still open has changed these keys. */
  beginChange(hashes: readonly string[]): void {
    for (const hash of hashes) {
      this.#changing.set(hash, (this.#changing.get(hash) ?? 0) + 1)
    }
    this.forget(hashes)
  }

  /** The transaction has ended. */
  endChange(hashes: readonly string[]): void {
    for (const hash of hashes) {
      const left = (this.#changing.get(hash) ?? 0) - 1
      if (left > 0) this.#changing.set(hash, left)
      else this.#changing.delete(hash)
    }
    this.forget(hashes)
  }

  /** If the key changes while the query runs, the result is discarded and the query repeated. */
  async #query(hash: string, presented: Presented, pending: PendingLookup): Promise<LookupResult> {
    let found: LookupResult | ForNow
    let sentAt: number
    do {
      pending.isStale = false
      sentAt = this.#now()
      found = await this.#lookUp(hash, presented)
    } while (pending.isStale)
    const result = resultOf(found)
    if (found instanceof ForNow || this.#changing.has(hash)) return result
    if (result === UNKNOWN_KEY) this.#unknown.set(hash, sentAt + UNKNOWN_MS)
    else if (isFailure(result)) this.#rejected.set(hash, result)
    else this.#valid.set(hash, result)
    return result
  }
}

const resultOf = (found: LookupResult | ForNow): LookupResult =>
  found instanceof ForNow ? found.result : found

const NO_RESULT: Promise<LookupResult> = Promise.resolve(UNKNOWN_KEY)
