/**
 * The policy of each route, kept by the identity of the config object that its requests carry. What
 * a handler does to that object later changes nothing, and no spelling of a URL leads past it.
 */
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { InvalidRouteScopes } from '../../errors.ts'
import type { Scope } from '../../scopes.ts'
import type { PathRules } from './path-rules.ts'
import {
  ADMIN_ONLY,
  policyOfNotFound,
  policyOfPath,
  policyOfRoute,
  type Decision,
  type Policy,
} from './route-policy.ts'
import { pathOf, type RouterOptions } from './request-path.ts'
import type { RegisteredRoute } from './registered-routes.ts'

export class Policies {
  #ofConfig = new Map<FastifyContextConfig, Policy>()
  #routes: readonly RegisteredRoute[] = []
  #rules: PathRules
  #router: RouterOptions

  constructor(rules: PathRules, router: RouterOptions) {
    this.#rules = rules
    this.#router = router
  }

  /** @throws InvalidRouteScopes naming the route */
  settle(routes: readonly RegisteredRoute[], declared: readonly Scope[]): void {
    this.#routes = routes
    for (const route of routes) {
      const scopes = scopesOf(route, declared)
      this.#ofConfig.set(route.config, policyOfRoute(route.patterns, scopes, this.#rules))
    }
  }

  of(request: FastifyRequest): Decision {
    const policy = this.#ofConfig.get(request.routeOptions.config)
    if (policy !== undefined && policy.kind !== 'by path') return policy
    const path = pathOf(request.raw.url ?? '', this.#router)
    if (policy !== undefined) return policyOfPath(path, this.#rules)
    return request.is404 ? policyOfNotFound(path, this.#rules) : ADMIN_ONLY
  }

  /** The same before the router knows of the route: where it depends on the path, it is guarded. */
  foresee(pattern: string, config: FastifyContextConfig | undefined): Decision {
    const policy = policyOfRoute([pattern], config?.scopes, this.#rules)
    return policy.kind === 'by path' ? policyOfPath(undefined, this.#rules) : policy
  }

  /** Whether a request for a path without parameters would need a key. */
  guards(method: string, path: string): boolean {
    const route = this.#routes.find(
      ({ methods, patterns }) => methods.includes(method) && patterns.includes(path),
    )
    const policy = route && this.#ofConfig.get(route.config)
    if (policy !== undefined && policy.kind !== 'by path') return policy.kind === 'guarded'
    return policyOfPath(pathOf(path, this.#router), this.#rules).kind === 'guarded'
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
      `nobody declared ${JSON.stringify(scope)}: list it in the option "scopes"`,
    )
  }
  return scopes
}
