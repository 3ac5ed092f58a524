/** A valid key as the guard remembers it, without the key itself. */
import { satisfies, type Scope } from '../../scopes.ts'
import type { Requirement } from '../policy/route-policy.ts'
import type { PrefixState } from '../lockout/lockout.ts'

/** Who asks: `request.auth`. Shared by all requests of a key, and therefore frozen. */
export interface Auth {
  /** Owner of the key; `null` for the bootstrap key. */
  readonly userId: string | null
  readonly scopes: readonly Scope[]
  /** Whether the bootstrap key was used. */
  readonly bootstrap: boolean
  /** `null` for the bootstrap key. */
  readonly keyId: string | null
}

export interface KnownKey {
  readonly auth: Auth
  /** Milliseconds since 1970; `null` where it never expires. */
  readonly expiresAt: number | null
  /** Shared by the keys of one prefix; `null` without a rate limit. */
  prefix: PrefixState | null
  /** The round of `LastUsed` in which its last use was noted. */
  notedIn: number
  /** The requirement that it was last found to satisfy: most keys meet the same one again. */
  met: Requirement | null
}

export function knownKey(
  auth: Auth,
  expiresAt: number | null = null,
  prefix: PrefixState | null = null,
): KnownKey {
  const frozen = Object.freeze({ ...auth, scopes: Object.freeze([...auth.scopes]) })
  return { auth: frozen, expiresAt, prefix, notedIn: -1, met: null }
}

export function meets(key: KnownKey, required: Requirement): boolean {
  if (key.met === required) return true
  if (required.scopes !== null && !satisfies(key.auth.scopes, required.scopes)) return false
  key.met = required
  return true
}

/** What is no time at all is past. */
export const isExpired = (key: KnownKey): boolean =>
  key.expiresAt !== null && !(key.expiresAt > Date.now())
