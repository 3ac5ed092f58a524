/** What a route asks of a key. Settled once, from the route's registered pattern and config. */
import type { Scope } from '../../scopes.ts'
import type { Demand, PathRules } from './path-rules.ts'
import { insufficientScope, type Refusal } from '../refusals.ts'

/** One of these scopes; `null` is satisfied by any valid key. */
export interface Requirement {
  readonly scopes: readonly Scope[] | null
  readonly refusal: Refusal
}

export interface Open {
  readonly kind: 'open'
}

export interface Guarded {
  readonly kind: 'guarded'
  /** For GET, HEAD and OPTIONS. */
  readonly reading: Requirement
  readonly other: Requirement
}

/** What one request is held to. */
export type Decision = Open | Guarded

/** What a route is held to: for some it depends on the path of the request. */
export type Policy = Decision | { readonly kind: 'by path' }

const OPEN: Open = { kind: 'open' }
const BY_PATH: Policy = { kind: 'by path' }

const BY_METHOD: Guarded = {
  kind: 'guarded',
  reading: requirement(['read']),
  other: requirement(['write']),
}
const AUTH_MANAGE = anyOf(['auth:manage'])
const WEBHOOKS_MANAGE = anyOf(['webhooks:manage'])
/** What should not be there is for those alone who may do everything. */
export const ADMIN_ONLY = anyOf([])
/** A protected 404: it tells which paths exist to those alone who hold a key. */
const ANY_KEY = guarded({ scopes: null, refusal: insufficientScope([]) })

/** `scopes`: those that the route itself asks for. They guard it wherever it stands. */
export function policyOfRoute(
  patterns: readonly string[],
  scopes: readonly Scope[] | undefined,
  rules: PathRules,
): Policy {
  if (scopes) return anyOf(scopes)
  const demands = new Set(patterns.map((pattern) => rules.ofPattern(pattern)))
  const [demand] = demands
  return demands.size === 1 && demand !== undefined ? policyFor(demand) : BY_PATH
}

/** `path`: as the router decoded it, `undefined` where it can be read in two ways. */
export const policyOfPath = (path: string | undefined, rules: PathRules): Decision =>
  policyFor(path === undefined ? 'method' : rules.ofPath(path))

export const policyOfNotFound = (path: string | undefined, rules: PathRules): Decision =>
  path !== undefined && rules.ofPath(path) === 'open' ? OPEN : ANY_KEY

function policyFor(demand: Demand): Decision {
  switch (demand) {
    case 'open':
      return OPEN
    case 'auth:manage':
      return AUTH_MANAGE
    case 'webhooks:manage':
      return WEBHOOKS_MANAGE
    case 'method':
      return BY_METHOD
  }
}

function anyOf(scopes: readonly Scope[]): Guarded {
  return guarded(requirement(scopes))
}

function guarded(required: Requirement): Guarded {
  return { kind: 'guarded', reading: required, other: required }
}

/** The list of a route's config is shared with whoever can reach the config: this is a copy. */
function requirement(asked: readonly Scope[]): Requirement {
  const scopes = new Set(asked)
  if (scopes.has('read')) scopes.add('write') // which includes it
  return { scopes: [...scopes], refusal: insufficientScope([...scopes]) }
}
