/** What the guard demands of a request to a route, from the route's registered pattern and config. */
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
}

export interface GuardedPolicy {
  readonly kind: 'guarded'
  /** For GET, HEAD and OPTIONS. */
  readonly reading: Requirement
  readonly other: Requirement
}

/** What is demanded of one request. */
export type Policy = OpenPolicy | GuardedPolicy

/** What is demanded of a route's requests: for some routes it depends on the path of the request. */
export type RoutePolicy = Policy | { readonly kind: 'by path' }

const OPEN: OpenPolicy = { kind: 'open' }
const BY_PATH: RoutePolicy = { kind: 'by path' }

const BY_METHOD: GuardedPolicy = {
  kind: 'guarded',
  reading: requirement(['read']),
  other: requirement(['write']),
}
const AUTH_MANAGE = anyOf(['auth:manage'])
const WEBHOOKS_MANAGE = anyOf(['webhooks:manage'])
/** Of a route that was not there at boot. */
export const ADMIN_ONLY = anyOf([])
/** Of a protected 404: only a valid key may learn which paths exist. */
const ANY_KEY = guarded({ scopes: null, refusal: insufficientScope([]) })

/** `scopes`: those of the route's own config. They guard it at any path. */
export function policyOfRoute(
  patterns: readonly string[],
  scopes: readonly Scope[] | undefined,
  rules: PathRules,
): RoutePolicy {
  if (scopes) return anyOf(scopes)
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

function anyOf(scopes: readonly Scope[]): GuardedPolicy {
  return guarded(requirement(scopes))
}

function guarded(required: Requirement): GuardedPolicy {
  return { kind: 'guarded', reading: required, other: required }
}

/** A copy of the scopes: a handler can change the list in the route's config. */
function requirement(asked: readonly Scope[]): Requirement {
  const scopes = new Set(asked)
  if (scopes.has('read')) scopes.add('write') // which includes it
  return { scopes: [...scopes], refusal: insufficientScope([...scopes]) }
}
