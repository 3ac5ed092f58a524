/** Warns of exclusions that open nothing. */
import type { FastifyBaseLogger } from 'fastify'
import { exclusionsOf, type PathOptions } from '../policy/path-rules.ts'
import type { RegisteredRoute } from '../policy/registered-routes.ts'

export function warnOfUselessExclusions(
  log: FastifyBaseLogger,
  options: PathOptions,
  routes: readonly RegisteredRoute[],
): void {
  const { excludePaths, protectedPaths, managementBasePath, webhooksManagementPaths } = options
  const withScopes = routes.filter(({ config }) => config.scopes !== undefined)
  const guarded = [...new Set(withScopes.flatMap(({ patterns }) => patterns))]
  const { whole, below } = exclusionsOf(excludePaths)
  const useless = [
    ...whole.filter((path) => guarded.includes(path)),
    ...guarded.filter((path) => below.some((prefix) => path.startsWith(`${prefix}/`))),
  ]
  for (const path of useless) {
    log.warn(
      { path },
      'excludePaths has no effect on a route with config.scopes: it still needs a key',
    )
  }
  const management = [managementBasePath, ...webhooksManagementPaths].filter(
    (path) => path !== null,
  )
  // Our own routes have config.scopes.
  for (const path of whole.filter((one) => !useless.includes(one))) {
    if (!management.some((base) => path === base || path.startsWith(`${base}/`))) continue
    log.warn(
      { path },
      'excludePaths has a management path: a route there without config.scopes needs no key',
    )
  }
  if (protectedPaths !== 'all' && protectedPaths.length === 0) {
    log.warn(
      'protectedPaths is empty: only management paths and routes with config.scopes need a key',
    )
  }
}
