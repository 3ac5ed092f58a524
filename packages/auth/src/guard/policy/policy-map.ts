/**
 * The policy of each route, by the identity of the config object that its requests carry. A handler
 * that changes this object later changes no policy, and no spelling of a URL leads to another one.
 */
import { hasOwnAccess } from '@svc/core/internal'
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { InvalidRouteCost, InvalidRouteScopes } from '../../errors.ts'
import type { Scope } from '../../scopes.ts'
import { createPathRules, type PathOptions, type PathRules } from './path-rules.ts'
import type { RegisteredRoute } from './registered-routes.ts'
import { AS_WRITTEN, pathOf, type RouterOptions } from './request-path.ts'
import {
  ADMIN_ONLY,
  policyOfNotFound,
  policyOfPath,
  policyOfRoute,
  type OwnPolicy,
  type Policy,
  type RoutePolicy,
} from './route-policy.ts'

export class PolicyMap {
  #policies = new Map<FastifyContextConfig, RoutePolicy>()
  /** The cost of each route with a `config.cost`. */
  #costs = new Map<FastifyContextConfig, number>()
  #routes: readonly RegisteredRoute[] = []
  #rules: PathRules
  #router: RouterOptions
  /** For the targets of other servers, whose router may be stricter than that of this application. */
  #foreignRules: PathRules

  constructor(options: PathOptions, router: RouterOptions) {
    this.#rules = createPathRules(options, router)
    this.#router = router
    this.#foreignRules = createPathRules(options, AS_WRITTEN)
  }

  /** @throws InvalidRouteScopes, InvalidRouteCost naming the route */
  addRoutes(routes: readonly RegisteredRoute[], declared: readonly Scope[]): void {
    this.#routes = routes
    for (const route of routes) {
      const own = ownPolicyOf(route, declared)
      this.#policies.set(route.config, policyOfRoute(route.patterns, own, this.#rules))
      const cost = costOf(route)
      if (cost !== undefined) this.#costs.set(route.config, cost)
    }
  }

  /** The policy of a request, for the guard. */
  policyOf(request: FastifyRequest): Policy {
    const policy = this.#policies.get(request.routeOptions.config)
    if (policy !== undefined && policy.kind !== 'by path') return policy
    const path = pathOf(request.raw.url ?? '', this.#router)
    if (policy !== undefined) return policyOfPath(path, this.#rules)
    return request.is404 ? policyOfNotFound(path, this.#rules) : ADMIN_ONLY
  }

  /** How much a request uses of the quota of its key. */
  costOf(request: FastifyRequest): number {
    return this.#costs.get(request.routeOptions.config) ?? 1
  }

  /** The policy of a route, for the OpenAPI document, while routes are still being registered. */
  policyBeforeRegistration(pattern: string, config: FastifyContextConfig | undefined): Policy {
    const own = config && (keyDemandOf(config) ?? config.scopes)
    const policy = policyOfRoute([pattern], own, this.#rules)
    return policy.kind === 'by path' ? policyOfPath(undefined, this.#rules) : policy
  }

  /** Tells other packages whether a request for a path without parameters needs a key. */
  needsKey(method: string, path: string): boolean {
    const route = this.#routes.find(
      ({ methods, patterns }) => methods.includes(method) && patterns.includes(path),
    )
    const policy = route && this.#policies.get(route.config)
    const isKnown = policy !== undefined && policy.kind !== 'by path'
    const found = isKnown ? policy : policyOfPath(pathOf(path, this.#router), this.#rules)
    return found.kind === 'guarded' && !found.isOptional
  }

  /**
   * The policy for the target of a request that a proxy sends to another server, by the options
   * alone. What the router of this application makes of a target says nothing about that server.
   */
  policyOfTarget(target: string): Policy {
    const path = target.includes('\\') ? undefined : pathOf(target, AS_WRITTEN)
    return policyOfPath(path, this.#foreignRules)
  }
}

/** A demand in the config of a route of this package, other than for scopes. No host can set it. */
const KEY_DEMAND = Symbol('@svc/auth.keyDemand')
type KeyDemand = Extract<OwnPolicy, 'any-key' | 'decides-itself' | 'judges-another'>

export const withKeyDemand = <Config extends object>(
  config: Config,
  demand: KeyDemand,
): Config => ({
  ...config,
  [KEY_DEMAND]: demand,
})

function keyDemandOf(config: FastifyContextConfig): OwnPolicy | undefined {
  // The console's: it has sessions, and a bearer token that it is sent need be no key.
  if (hasOwnAccess(config)) return 'decides-itself'
  const demand = (config as { [KEY_DEMAND]?: KeyDemand })[KEY_DEMAND]
  return demand ?? (config.public === true ? 'public' : undefined)
}

function ownPolicyOf(route: RegisteredRoute, declared: readonly Scope[]): OwnPolicy | undefined {
  const { config } = route
  const isPublic: unknown = config.public
  if (isPublic !== undefined && typeof isPublic !== 'boolean') {
    throw new InvalidRouteScopes(nameOf(route), '"config.public" must be true or false')
  }
  const scopes = scopesOf(route, declared)
  if (isPublic === true && scopes !== undefined) {
    throw new InvalidRouteScopes(nameOf(route), '"config.public" opens the route: leave one out')
  }
  return keyDemandOf(config) ?? scopes
}

function scopesOf(route: RegisteredRoute, declared: readonly Scope[]): Scope[] | undefined {
  const scopes: unknown = route.config.scopes
  if (scopes === undefined) return undefined
  const name = nameOf(route)
  if (!Array.isArray(scopes)) {
    throw new InvalidRouteScopes(name, 'it must be an array of names of scopes')
  }
  for (const scope of scopes) {
    if (declared.includes(scope)) continue
    throw new InvalidRouteScopes(
      name,
      `unknown scope ${JSON.stringify(scope)}: declare it in the option "scopes"`,
    )
  }
  return scopes
}

const MAX_COST = 1_000_000

function costOf(route: RegisteredRoute): number | undefined {
  const cost: unknown = route.config.cost
  if (cost === undefined) return undefined
  if (Number.isInteger(cost) && Number(cost) >= 0 && Number(cost) <= MAX_COST) return Number(cost)
  throw new InvalidRouteCost(nameOf(route), String(JSON.stringify(cost)))
}

const nameOf = ({ methods, patterns }: RegisteredRoute): string =>
  `${methods.join(', ')} ${patterns[0]}`
