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

interface Rule {
  path: string
  lower: string
  whole: boolean
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

/** The first that covers a path decides. */
function rulesOf(options: PathOptions, router: RouterOptions): Rule[] {
  const rule = (demand: Demand, whole: boolean) => (given: string) => {
    const path = whole ? normalized(given, router) : normalized(given, router).replace(/\/+$/, '')
    return { path, lower: path.toLowerCase(), whole, demand }
  }
  const { protectedPaths, excludePaths, managementBasePath, webhooksManagementPaths } = options
  return [
    ...excludePaths.map(rule('open', true)),
    ...(managementBasePath === null ? [] : [managementBasePath]).map(rule('auth:manage', false)),
    ...webhooksManagementPaths.map(rule('webhooks:manage', false)),
    ...(protectedPaths === 'all' ? [] : protectedPaths).map(rule('method', false)),
  ]
}

const covers = ({ whole, path: own }: Rule, path: string): boolean =>
  whole ? path === own : isUnder(path, own)

const coversInAnyCase = (rule: Rule, path: string, lower: string): boolean =>
  rule.whole ? path === rule.path : isUnder(lower, rule.lower)

/** Prefixes end where a segment ends: `/api` is `/api` and `/api/x`, not `/apix`. */
const isUnder = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')

function coversAllUnder(rule: Rule, head: string): Verdict {
  if (rule.whole) return rule.path.startsWith(head) ? 'sometimes' : 'never'
  const below = `${rule.path}/`
  if (head.startsWith(below)) return 'always'
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
