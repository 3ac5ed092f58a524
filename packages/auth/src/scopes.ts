/**
 * Scopes that need no declaration. The holder of `auth:manage` can create keys with `read` and `write`
 * for any user, without an expiry, and so act as any user.
 */
export const BUILT_IN_SCOPES = ['admin', 'read', 'write', 'auth:manage', 'webhooks:manage'] as const

/** A scope: built in, or declared by the host with the option `scopes`. */
export type Scope = (typeof BUILT_IN_SCOPES)[number] | (string & {})

export const DEFAULT_SCOPES: readonly Scope[] = ['read', 'write']

/** Names of scopes: words of a URL's unreserved characters (RFC 3986), separated by colons. */
export const SCOPE_NAME = /^[A-Za-z0-9._~-]+(?::[A-Za-z0-9._~-]+)*$/

const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

export const isReading = (method: string): boolean => READING.has(method)

/** Any one of `required` is enough, and `admin` always is. */
export const satisfies = (held: readonly Scope[], required: readonly Scope[]): boolean =>
  held.includes('admin') || required.some((scope) => held.includes(scope))

/**
 * The scopes of `wanted` that a caller without `admin` may not grant: all that it does not hold
 * itself, except `read` and `write`, which it may grant to a key of any user and without an expiry.
 */
export const ungrantable = (held: readonly Scope[], wanted: readonly Scope[]): Scope[] =>
  held.includes('admin')
    ? []
    : wanted.filter((scope) => !DEFAULT_SCOPES.includes(scope) && !held.includes(scope))
