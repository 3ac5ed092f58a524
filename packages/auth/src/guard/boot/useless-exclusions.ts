/** Exclusions that do not have the effect that they seem to have. */
import type { FastifyBaseLogger } from 'fastify'
import { ExclusionOpensManagement } from '../../errors.ts'
import { exclusionsOf, findOpenedManagementPath, type PathOptions } from '../policy/path-rules.ts'
import type { RegisteredRoute } from '../policy/registered-routes.ts'

/** @throws ExclusionOpensManagement */
export function assertManagementGuarded(options: PathOptions): void {
  const opened = findOpenedManagementPath(options)
  if (opened) throw new ExclusionOpensManagement(opened.exclusion, opened.path)
}

export function warnOfUselessExclusions(
  log: FastifyBaseLogger,
  excludePaths: readonly string[],
  routes: readonly RegisteredRoute[],
): void {
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
}
