/** Decides by the options which paths are open, and which scopes the others need. */
import { ExclusionOpensManagement } from '../../errors.ts'
import { normalized, type RouterOptions } from './request-path.ts'

/** `by method`: `read` or `write`, by the request's method. */
export type Access = 'open' | 'by method' | 'auth:manage' | 'webhooks:manage'

export interface PathOptions {
  protectedPaths: 'all' | readonly string[]
  excludePaths: readonly string[]
  managementBasePath: string | null
  webhooksManagementPaths: readonly string[]
}

export interface PathRules {
  /**
   * The access that the path of a request has. Prefixes match in any case, since the next reader of
   * the path, a proxy or a file system, may ignore case. Exclusions are exact.
   */
  ofPath(path: string): Access
  /** `undefined` where it depends on the path of the request. */
  ofPattern(pattern: string): Access | undefined
}

/** `whole`: that path alone. `under`: it and what is below it. `below`: only what is below it. */
type Reach = 'whole' | 'under' | 'below'

interface Rule {
  path: string
  lower: string
  reach: Reach
  access: Access
}

type Coverage = 'always' | 'never' | 'sometimes'

export function createPathRules(options: PathOptions, router: RouterOptions): PathRules {
  const rules = rulesOf(options, router)
  const fallback: Access = options.protectedPaths === 'all' ? 'by method' : 'open'
  return {
    ofPath(path) {
      const lower = path.toLowerCase()
      return rules.find((rule) => coversInAnyCase(rule, path, lower))?.access ?? fallback
    },
    ofPattern(pattern) {
      const { head, isWhole } = staticPrefix(pattern, router)
      for (const rule of rules) {
        const coverage = isWhole ? certain(covers(rule, head)) : coverageBelow(rule, head)
        if (coverage === 'always') return rule.access
        if (coverage === 'sometimes') return undefined
      }
      return fallback
    },
  }
}

/**
 * The first that covers a path decides. Management paths come before wildcards, so that a wildcard
 * opens none of them, whatever their case.
 */
function rulesOf(options: PathOptions, router: RouterOptions): Rule[] {
  const rule = (access: Access, reach: Reach) => (given: string) => {
    const plain = normalized(given, router)
    const path = reach === 'whole' ? plain : plain.replace(/\/+$/, '')
    return { path, lower: path.toLowerCase(), reach, access }
  }
  const { protectedPaths, excludePaths, managementBasePath, webhooksManagementPaths } = options
  const { whole, below } = exclusionsOf(excludePaths)
  return [
    ...whole.map(rule('open', 'whole')),
    ...(managementBasePath === null ? [] : [managementBasePath]).map(rule('auth:manage', 'under')),
    ...webhooksManagementPaths.map(rule('webhooks:manage', 'under')),
    ...below.map(rule('open', 'below')),
    ...(protectedPaths === 'all' ? [] : protectedPaths).map(rule('by method', 'under')),
  ]
}

const WILDCARD = '/*'

/** The entries of the option `excludePaths`: whole paths, and prefixes of open paths. */
export function exclusionsOf(excludePaths: readonly string[]): {
  whole: string[]
  below: string[]
} {
  const plain = excludePaths.map((path) => path.replaceAll('::', ':'))
  return {
    whole: plain.filter((path) => !path.endsWith(WILDCARD)),
    below: plain
      .filter((path) => path.endsWith(WILDCARD))
      .map((path) => path.slice(0, -WILDCARD.length)),
  }
}

/**
 * @throws ExclusionOpensManagement: an exclusion with a wildcard has paths in common with a management path,
 *   whatever their case
 */
export function assertManagementGuarded({
  excludePaths,
  managementBasePath,
  webhooksManagementPaths,
}: Omit<PathOptions, 'protectedPaths'>): void {
  const bases = [
    ...(managementBasePath === null ? [] : [managementBasePath]),
    ...webhooksManagementPaths,
  ]
  for (const below of exclusionsOf(excludePaths).below) {
    const exclusion = below.toLowerCase()
    const path = bases.find((given) => {
      const base = given.toLowerCase().replace(/\/+$/, '')
      return isUnder(base, exclusion) || isUnder(exclusion, base)
    })
    if (path !== undefined) throw new ExclusionOpensManagement(`${below}${WILDCARD}`, path)
  }
}

const covers = ({ reach, path: own }: Rule, path: string): boolean =>
  reach === 'whole' ? path === own : reach === 'under' ? isUnder(path, own) : isBelow(path, own)

/** Exclusions are exact, prefixes are not. */
const coversInAnyCase = (rule: Rule, path: string, lower: string): boolean =>
  rule.reach === 'under' ? isUnder(lower, rule.lower) : covers(rule, path)

/** Prefixes end where a segment ends: `/api` is `/api` and `/api/x`, not `/apix`. */
const isUnder = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')

/** `/public/` is not below `/public`: its last segment is empty. */
const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(`${prefix}/`) && path.length > prefix.length + 1

function coverageBelow(rule: Rule, head: string): Coverage {
  if (rule.reach === 'whole') return rule.path.startsWith(head) ? 'sometimes' : 'never'
  const below = `${rule.path}/`
  // The value of a parameter or wildcard may lead to another path (`..%2f`), so exclusions are
  // matched against the path of each request.
  if (head.startsWith(below)) return rule.reach === 'below' ? 'sometimes' : 'always'
  if (head.length >= below.length) return 'never'
  return `${rule.lower}/`.startsWith(head.toLowerCase()) ? 'sometimes' : 'never'
}

const certain = (covered: boolean): Coverage => (covered ? 'always' : 'never')

/** The text of a pattern before its first parameter or wildcard. `::` stands for a colon. */
function staticPrefix(pattern: string, router: RouterOptions): { head: string; isWhole: boolean } {
  const end = pattern.replaceAll('::', '..').search(/[:*]/)
  const head = (end === -1 ? pattern : pattern.slice(0, end)).replaceAll('::', ':')
  if (end === -1) return { head: normalized(head, router), isWhole: true }
  return { head: normalized(head, { ...router, ignoreTrailingSlash: false }), isWhole: false }
}
