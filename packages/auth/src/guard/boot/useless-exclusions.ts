/** Exclusions that do not do what they look like. */
import type { FastifyBaseLogger } from 'fastify'
import { ExclusionOpensManagement } from '../../errors.ts'
import { exclusionsOf, openedManagement, type PathOptions } from '../policy/path-rules.ts'
import type { RegisteredRoute } from '../policy/registered-routes.ts'

/** @throws ExclusionOpensManagement */
export function refuseOpenManagement(options: PathOptions): void {
  const opened = openedManagement(options)
  if (opened) throw new ExclusionOpensManagement(opened.exclusion, opened.path)
}

export function warnOfVainExclusions(
  log: FastifyBaseLogger,
  excludePaths: readonly string[],
  routes: readonly RegisteredRoute[],
): void {
  const withScopes = routes.filter(({ config }) => config.scopes !== undefined)
  const guarded = [...new Set(withScopes.flatMap(({ patterns }) => patterns))]
  const { whole, below } = exclusionsOf(excludePaths)
  const vain = [
    ...whole.filter((path) => guarded.includes(path)),
    ...guarded.filter((path) => below.some((prefix) => path.startsWith(`${prefix}/`))),
  ]
  for (const path of vain) {
    log.warn({ path }, 'excludePaths does not open a route that asks for scopes of its own')
  }
}
