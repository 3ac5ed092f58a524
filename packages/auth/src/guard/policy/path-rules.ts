/** What the options say of paths: which are open, and what the others ask for. */
import { normalized, type RouterOptions } from './request-path.ts'

/** `method`: `read` or `write`, by the request's method. */
export type Demand = 'open' | 'method' | 'auth:manage' | 'webhooks:manage'

export interface PathOptions {
  protectedPaths: 'all' | readonly string[]
  excludePaths: readonly string[]
  managementBasePath: string | null
  webhooksManagementPaths: readonly string[]
}

export interface PathRules {
  /**
   * Of a path that no route was registered for as it stands: prefixes hold in any case, as whoever
   * reads it next, a proxy or a file system, may not mind the case. Exclusions are exact.
   */
  ofPath(path: string): Demand
  /** `undefined` where it depends on the path of the request. */
  ofPattern(pattern: string): Demand | undefined
}

/** `whole`: that path alone. `under`: it and what is below it. `below`: only what is below it. */
type Reach = 'whole' | 'under' | 'below'

interface Rule {
  path: string
  lower: string
  reach: Reach
  demand: Demand
}

type Verdict = 'always' | 'never' | 'sometimes'

export function pathRules(options: PathOptions, router: RouterOptions): PathRules {
  const rules = rulesOf(options, router)
  const otherwise: Demand = options.protectedPaths === 'all' ? 'method' : 'open'
  return {
    ofPath(path) {
      const lower = path.toLowerCase()
      return rules.find((rule) => coversInAnyCase(rule, path, lower))?.demand ?? otherwise
    },
    ofPattern(pattern) {
      const { head, isWhole } = fixedHead(pattern, router)
      for (const rule of rules) {
        const verdict = isWhole ? certain(covers(rule, head)) : coversAllUnder(rule, head)
        if (verdict === 'always') return rule.demand
        if (verdict === 'sometimes') return undefined
      }
      return otherwise
    },
  }
}

/**
 * The first that covers a path decides. Management paths come before wildcards, so that a wildcard
 * opens none of them, in whatever case they are written.
 */
function rulesOf(options: PathOptions, router: RouterOptions): Rule[] {
  const rule = (demand: Demand, reach: Reach) => (given: string) => {
    const plain = normalized(given, router)
    const path = reach === 'whole' ? plain : plain.replace(/\/+$/, '')
    return { path, lower: path.toLowerCase(), reach, demand }
  }
  const { protectedPaths, excludePaths, managementBasePath, webhooksManagementPaths } = options
  const { whole, below } = exclusionsOf(excludePaths)
  return [
    ...whole.map(rule('open', 'whole')),
    ...(managementBasePath === null ? [] : [managementBasePath]).map(rule('auth:manage', 'under')),
    ...webhooksManagementPaths.map(rule('webhooks:manage', 'under')),
    ...below.map(rule('open', 'below')),
    ...(protectedPaths === 'all' ? [] : protectedPaths).map(rule('method', 'under')),
  ]
}

const WILDCARD = '/*'

/** What the option `excludePaths` lists: whole paths, and those below which all is open. */
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
 * The first exclusion with a wildcard that has paths in common with a management path, in whatever
 * case, and that path.
 */
export function openedManagement({
  excludePaths,
  managementBasePath,
  webhooksManagementPaths,
}: Omit<PathOptions, 'protectedPaths'>): { exclusion: string; path: string } | undefined {
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
    if (path !== undefined) return { exclusion: `${below}${WILDCARD}`, path }
  }
  return undefined
}

const covers = ({ reach, path: own }: Rule, path: string): boolean =>
  reach === 'whole' ? path === own : reach === 'under' ? isUnder(path, own) : isBelow(path, own)

/** What opens a path is exact. */
const coversInAnyCase = (rule: Rule, path: string, lower: string): boolean =>
  rule.reach === 'under' ? isUnder(lower, rule.lower) : covers(rule, path)

/** Prefixes end where a segment ends: `/api` is `/api` and `/api/x`, not `/apix`. */
const isUnder = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')

/** An empty segment is none: `/public/` is not below `/public`. */
const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(`${prefix}/`) && path.length > prefix.length + 1

function coversAllUnder(rule: Rule, head: string): Verdict {
  if (rule.reach === 'whole') return rule.path.startsWith(head) ? 'sometimes' : 'never'
  const below = `${rule.path}/`
  // What a parameter or wildcard holds may lead elsewhere (`..%2f`), so an exclusion looks at the
  // path of each request.
  if (head.startsWith(below)) return rule.reach === 'below' ? 'sometimes' : 'always'
  if (head.length >= below.length) return 'never'
  return `${rule.lower}/`.startsWith(head.toLowerCase()) ? 'sometimes' : 'never'
}

const certain = (covered: boolean): Verdict => (covered ? 'always' : 'never')

/** The text of a pattern before its first parameter or wildcard. `::` stands for a colon. */
function fixedHead(pattern: string, router: RouterOptions): { head: string; isWhole: boolean } {
  const end = pattern.replaceAll('::', '..').search(/[:*]/)
  const head = (end === -1 ? pattern : pattern.slice(0, end)).replaceAll('::', ':')
  if (end === -1) return { head: normalized(head, router), isWhole: true }
  return { head: normalized(head, { ...router, ignoreTrailingSlash: false }), isWhole: false }
}
