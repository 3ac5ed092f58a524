/** Exclusions that do not do what they look like. */
import type { FastifyBaseLogger } from 'fastify'
import type { RegisteredRoute } from './routes.ts'

export function warnOfVainExclusions(
  log: FastifyBaseLogger,
  excludePaths: readonly string[],
  routes: readonly RegisteredRoute[],
): void {
  for (const path of excludePaths) {
    if (/[:*]/.test(path)) {
      log.warn({ path }, 'excludePaths takes whole paths: a parameter or wildcard opens nothing')
    }
    if (routes.some(({ config, patterns }) => config.scopes && patterns.includes(path))) {
      log.warn({ path }, 'excludePaths does not open a route that asks for scopes of its own')
    }
  }
}
