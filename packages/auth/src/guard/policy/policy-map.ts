/**
 * The policy of each route, by the identity of the config object that its requests carry. A handler
 * that changes this object later changes no policy, and no spelling of a URL leads to another one.
 */
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { InvalidRouteScopes } from '../../errors.ts'
import type { Scope } from '../../scopes.ts'
import type { PathRules } from './path-rules.ts'
import type { RegisteredRoute } from './registered-routes.ts'
import { pathOf, type RouterOptions } from './request-path.ts'
import {
  ADMIN_ONLY,
  policyOfNotFound,
  policyOfPath,
  policyOfRoute,
  type Policy,
  type RoutePolicy,
} from './route-policy.ts'

export class PolicyMap {
  #policies = new Map<FastifyContextConfig, RoutePolicy>()
  #routes: readonly RegisteredRoute[] = []
  #rules: PathRules
  #router: RouterOptions

  constructor(rules: PathRules, router: RouterOptions) {
    this.#rules = rules
    this.#router = router
  }

  /** @throws InvalidRouteScopes naming the route */
  addRoutes(routes: readonly RegisteredRoute[], declared: readonly Scope[]): void {
    this.#routes = routes
    for (const route of routes) {
      const scopes = scopesOf(route, declared)
      this.#policies.set(route.config, policyOfRoute(route.patterns, scopes, this.#rules))
    }
  }

  /** For the guard. */
  policyOf(request: FastifyRequest): Policy {
    const policy = this.#policies.get(request.routeOptions.config)
    if (policy !== undefined && policy.kind !== 'by path') return policy
    const path = pathOf(request.raw.url ?? '', this.#router)
    if (policy !== undefined) return policyOfPath(path, this.#rules)
    return request.is404 ? policyOfNotFound(path, this.#rules) : ADMIN_ONLY
  }

  /** For the OpenAPI document, while routes are still being registered. */
  policyBeforeRegistration(pattern: string, config: FastifyContextConfig | undefined): Policy {
    const policy = policyOfRoute([pattern], config?.scopes, this.#rules)
    return policy.kind === 'by path' ? policyOfPath(undefined, this.#rules) : policy
  }

  /** For other packages: whether a request for a path without parameters needs a key. */
  needsKey(method: string, path: string): boolean {
    const route = this.#routes.find(
      ({ methods, patterns }) => methods.includes(method) && patterns.includes(path),
    )
    const policy = route && this.#policies.get(route.config)
    const isKnown = policy !== undefined && policy.kind !== 'by path'
    const { kind } = isKnown ? policy : policyOfPath(pathOf(path, this.#router), this.#rules)
    return kind === 'guarded'
  }
}

function scopesOf(route: RegisteredRoute, declared: readonly Scope[]): Scope[] | undefined {
  const scopes: unknown = route.config.scopes
  if (scopes === undefined) return undefined
  const name = `${route.methods.join(', ')} ${route.patterns[0]}`
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
