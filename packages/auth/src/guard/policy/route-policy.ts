/** What the guard requires of a request, by the route's registered pattern and config. */
import type { Scope } from '../../scopes.ts'
import { insufficientScope, type Refusal } from '../refusals.ts'
import type { Access, PathRules } from './path-rules.ts'

/** One of these scopes; `null` is met by any valid key. */
export interface Requirement {
  readonly scopes: readonly Scope[] | null
  readonly refusal: Refusal
}

export interface OpenPolicy {
  readonly kind: 'open'
  /** Whether it is a decision of its own in the metrics. */
  readonly isCounted: boolean
}

export interface GuardedPolicy {
  readonly kind: 'guarded'
  /** A request without a key passes; a key that is presented must be valid all the same. */
  readonly isOptional: boolean
  /** The requirement for GET, HEAD and OPTIONS. */
  readonly reading: Requirement
  readonly other: Requirement
}

/** What the guard requires of one request. */
export type Policy = OpenPolicy | GuardedPolicy

/** What the guard requires of a route's requests. For some routes it depends on the path. */
export type RoutePolicy = Policy | { readonly kind: 'by path' }

export const OPEN: OpenPolicy = { kind: 'open', isCounted: true }
/** Its handler asks the guard about another request, which is the decision that counts. */
const JUDGES: OpenPolicy = { kind: 'open', isCounted: false }
const BY_PATH: RoutePolicy = { kind: 'by path' }

const BY_METHOD: GuardedPolicy = {
  kind: 'guarded',
  isOptional: false,
  reading: requirement(['read']),
  other: requirement(['write']),
}
const AUTH_MANAGE = anyOf(['auth:manage'])
const WEBHOOKS_MANAGE = anyOf(['webhooks:manage'])
/** The requirement of a route that was not there at boot. */
export const ADMIN_ONLY = anyOf([])
/** Met by every valid key. */
export const NO_SCOPE: Requirement = { scopes: null, refusal: insufficientScope([]) }
/** The policy of a protected 404: only a caller with a valid key may find out which paths exist. */
const ANY_KEY = guarded(NO_SCOPE)
/** The policy of a route with `config.public`. */
const OPTIONAL_KEY: GuardedPolicy = { ...ANY_KEY, isOptional: true }

/**
 * What a route's own config requires, at any path. `decides-itself`: a route of ours that checks
 * again. `judges-another`: one that asks the guard about another request.
 */
export type OwnPolicy =
  | readonly Scope[]
  | 'public'
  | 'any-key'
  | 'decides-itself'
  | 'judges-another'

/** `own`: what the route's own config requires. It guards the route at any path. */
export function policyOfRoute(
  patterns: readonly string[],
  own: OwnPolicy | undefined,
  rules: PathRules,
): RoutePolicy {
  if (own === 'public') return OPTIONAL_KEY
  if (own === 'any-key') return ANY_KEY
  if (own === 'decides-itself') return OPEN
  if (own === 'judges-another') return JUDGES
  if (own) return anyOf(own)
  const accesses = new Set(patterns.map((pattern) => rules.ofPattern(pattern)))
  const [access] = accesses
  return accesses.size === 1 && access !== undefined ? policyFor(access) : BY_PATH
}

/** `path`: as the router decoded it, `undefined` where it can be read in two ways. */
export const policyOfPath = (path: string | undefined, rules: PathRules): Policy =>
  policyFor(path === undefined ? 'by method' : rules.ofPath(path))

export const policyOfNotFound = (path: string | undefined, rules: PathRules): Policy =>
  path !== undefined && rules.ofPath(path) === 'open' ? OPEN : ANY_KEY

function policyFor(access: Access): Policy {
  switch (access) {
    case 'open':
      return OPEN
    case 'auth:manage':
      return AUTH_MANAGE
    case 'webhooks:manage':
      return WEBHOOKS_MANAGE
    case 'by method':
      return BY_METHOD
  }
}

/** Met by any one of these scopes, whatever the method and the path. */
export function anyOf(scopes: readonly Scope[]): GuardedPolicy {
  return guarded(requirement(scopes))
}

function guarded(required: Requirement): GuardedPolicy {
  return { kind: 'guarded', isOptional: false, reading: required, other: required }
}

/** A copy of the scopes: a handler can change the list in the route's config. */
export function requirement(required: readonly Scope[]): Requirement {
  const scopes = new Set(required)
  if (scopes.has('read')) scopes.add('write') // `write` includes `read`
  return { scopes: [...scopes], refusal: insufficientScope([...scopes]) }
}
