/** Exclusions that do not do what they look like. */
import type { FastifyBaseLogger } from 'fastify'
import type { RegisteredRoute } from './routes.ts'

export function warnOfVainExclusions(
  log: FastifyBaseLogger,
  excludePaths: readonly string[],
  routes: readonly RegisteredRoute[],
): void {
  const withScopes = routes.filter(({ config }) => config.scopes !== undefined)
  const guarded = new Set(withScopes.flatMap(({ patterns }) => patterns))
  for (const path of excludePaths) {
    if (!guarded.has(path)) continue
    log.warn({ path }, 'excludePaths does not open a route that asks for scopes of its own')
  }
}
