/**
 * Scopes that need no declaration. The holder of `auth:manage` can create keys with `read` and `write`
 * for any user within its reach, and so act as any of these users.
 */
export const BUILT_IN_SCOPES = [
  'admin',
  'read',
  'write',
  'auth:manage',
  'auth:verify',
  'audit:read',
  'events:read',
  'webhooks:manage',
] as const

/** A scope, such as `read` or `billing:read`: built in, or declared by the host with the option `scopes`. */
export type Scope = (typeof BUILT_IN_SCOPES)[number] | (string & {})

export const DEFAULT_SCOPES: readonly Scope[] = ['read', 'write']

/** Names of scopes: words of a URL's unreserved characters (RFC 3986), separated by colons. */
export const SCOPE_NAME = /^[A-Za-z0-9._~-]+(?::[A-Za-z0-9._~-]+)*$/

const isBuiltIn = (scope: string): boolean => BUILT_IN_SCOPES.some((builtIn) => builtIn === scope)

/** Whether a host may declare a scope of this name. */
export const isHostScope = (scope: string): boolean => SCOPE_NAME.test(scope) && !isBuiltIn(scope)

/** Any one of `required` is enough, and `admin` always is. */
export const satisfies = (held: readonly Scope[], required: readonly Scope[]): boolean =>
  held.includes('admin') || required.some((scope) => held.includes(scope))

/** Whether who holds `held` has all of `wanted`. */
const satisfiesAll = (held: readonly Scope[], wanted: readonly Scope[]): boolean =>
  held.includes('admin') || wanted.every((scope) => held.includes(scope))

const ROLE = 'role:'
const WILDCARD = ':*'

/** `a:b:c` is in `a:*` and `a:b:*`. */
const namespacesOf = (scope: Scope): string[] =>
  [...scope.matchAll(/:/g)].map(({ index }) => scope.slice(0, index) + WILDCARD)

export type Roles = Readonly<Record<string, readonly Scope[]>>

export type ScopeNames = ReturnType<typeof createScopeNames>

/** Resolves the scopes of a key: names of scopes, roles and namespaces. */
export function createScopeNames(ofHost: readonly Scope[], roles: Roles) {
  const declared = [...new Set([...BUILT_IN_SCOPES, ...ofHost])]
  /** Only the host's own scopes are opened: no namespace opens a built-in scope. */
  const openedBy = (scope: Scope): Scope[] =>
    scope.endsWith(WILDCARD) ? ofHost.filter((own) => own.startsWith(scope.slice(0, -1))) : []
  const roleOf = (scope: Scope): readonly Scope[] | undefined =>
    scope.startsWith(ROLE) && Object.hasOwn(roles, scope.slice(ROLE.length))
      ? roles[scope.slice(ROLE.length)]
      : undefined
  const isKnown = (scope: Scope): boolean =>
    declared.includes(scope) || roleOf(scope) !== undefined || openedBy(scope).length > 0
  /** What the key holds: a role is replaced by its scopes, `projects:*` joined by those it opens. */
  const resolve = (scopes: readonly Scope[]): Scope[] => {
    const held = scopes.flatMap((scope) => roleOf(scope) ?? [scope])
    return [...new Set(held.flatMap((scope) => [scope, ...openedBy(scope)]))]
  }
  return {
    /** Scopes that a route can require. */
    declared: declared as readonly Scope[],
    /** All valid values of the scopes of a key, for error messages. */
    known: [...declared, ...Object.keys(roles).map((role) => ROLE + role)],
    /** Namespaces of the host's own scopes, such as `projects:*`. */
    namespaces: [...new Set(ofHost.flatMap(namespacesOf))],
    /** The first scope that does not exist, so that no key can have it. */
    findUnknown: (scopes: readonly Scope[]): Scope | undefined =>
      scopes.find((scope) => !isKnown(scope)),
    resolve,
    /**
     * Those of `wanted` that the holder of `held` may not give to a key. Without `admin` it gives what it
     * holds by that name, roles all of whose scopes it holds, and `read` and `write`. An empty role may
     * get any scope at the next boot, so that only its holders give it.
     */
    ungrantable(held: readonly Scope[], wanted: readonly Scope[]): Scope[] {
      const resolved = resolve(held)
      if (resolved.includes('admin')) return []
      return wanted.filter((name) => {
        const role = roleOf(name)
        if (held.includes(name) || (role === undefined && DEFAULT_SCOPES.includes(name)))
          return false
        return role?.length === 0 || !satisfiesAll(resolved, resolve([name]))
      })
    },
    /** Whether a key with the scopes `after` holds something that one with `before` does not. */
    areMore(before: readonly Scope[], after: readonly Scope[]): boolean {
      // A role that it gets by name may get more at the next boot than the scopes that it holds now.
      if (after.some((name) => roleOf(name) !== undefined && !before.includes(name))) return true
      const resolved = resolve(before)
      return !satisfiesAll(resolved, resolve(after))
    },
    /** Those of the scopes that a key holds which open routes of ours. */
    openingOurs: (held: readonly Scope[]): Scope[] => held.filter((scope) => isBuiltIn(scope)),
  }
}
