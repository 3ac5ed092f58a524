/** A valid key as the guard remembers it, without its text. */
import { createNetworks, type IsWithin } from '../../addresses.ts'
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
