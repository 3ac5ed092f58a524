/**
 * Scopes that need no declaration. `auth:manage` reaches further than its name: its holder can make
 * keys with `read` and `write` for any user, which never expire, and so act as any user.
 */
export const BUILT_IN_SCOPES = ['admin', 'read', 'write', 'auth:manage', 'webhooks:manage'] as const

/** A scope: one of ours, or one that the host declares with the option `scopes`. */
export type Scope = (typeof BUILT_IN_SCOPES)[number] | (string & {})

export const DEFAULT_SCOPES: readonly Scope[] = ['read', 'write']

/** What a scope may be called: words of a URL's unreserved characters, parted by colons. */
export const SCOPE_NAME = /^[A-Za-z0-9._~-]+(?::[A-Za-z0-9._~-]+)*$/

const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

export const isReading = (method: string): boolean => READING.has(method)

/** Any one of `required` is enough, and `admin` always is. */
export const satisfies = (held: readonly Scope[], required: readonly Scope[]): boolean =>
  held.includes('admin') || required.some((scope) => held.includes(scope))

/**
 * Those of `wanted` that a caller without `admin` may not grant: scopes beyond `read` and `write` that
 * it does not hold itself. `read` and `write` it may grant without holding them, to a key of any user
 * and without an expiry.
 */
export const ungrantable = (held: readonly Scope[], wanted: readonly Scope[]): Scope[] =>
  held.includes('admin')
    ? []
    : wanted.filter((scope) => !DEFAULT_SCOPES.includes(scope) && !held.includes(scope))
