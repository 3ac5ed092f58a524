import {
  isBoolean,
  isIntegerFrom,
  isString,
  resolveOptions,
  type OptionRule,
  type OptionRules,
} from '@svc/core/internal'
import type { RateLimit } from './tables/lockouts.ts'
import { BUILT_IN_SCOPES, SCOPE_NAME, type Scope } from './scopes.ts'

/**
 * Options of `svcAuth`.
 *
 * @example
 * const options: SvcAuthOptions = {
 *   bootstrapKeySecret: 'BOOTSTRAP_KEY',
 *   excludePaths: ['/health', '/public/*'],
 *   scopes: ['billing:read'],
 * }
 */
export interface SvcAuthOptions {
  /**
   * Which paths need a key: all, or those under these prefixes. A prefix ends where a segment
   * ends: `/api` is `/api` and `/api/x`, not `/apix`.
   * @default 'all'
   */
  protectedPaths?: 'all' | string[]
  /**
   * Paths that are open, for every method: whole paths, and with `/*` at the end all paths below one
   * but not that path itself.
   * @default ['/health']
   */
  excludePaths?: string[]
  /**
   * Name of the secret that holds the bootstrap key, 16 to 512 characters. It is read again every
   * 5 seconds.
   * @default none
   */
  bootstrapKeySecret?: string
  /**
   * Base path of the management API; `null` disables it. A key with its scope, `auth:manage`, can
   * create keys with `read` and `write` for any user.
   * @default '/_auth'
   */
  managementBasePath?: string | null
  /**
   * A lockout, and no limit of the rate of requests: it blocks key prefixes with too many failed
   * attempts. The right key of the prefix is blocked too, so a stranger who knows the first 8
   * characters of a key can have it blocked.
   * @default disabled
   */
  rateLimit?: RateLimit
  /** Prefixes that need the scope `webhooks:manage`. @default ['/_webhooks'] */
  webhooksManagementPaths?: string[]
  /** Scopes of the host, for keys and for `config.scopes` of routes. @default [] */
  scopes?: Scope[]
  /**
   * Names of the functions of `onRequest` hooks that may run before the guard, beside those of
   * `@fastify/request-context`, `@fastify/cors` and `@fastify/helmet`. A minifier changes names of
   * functions, and the host does not boot then: keep these names (esbuild: `keepNames`).
   * @default []
   */
  hooksBeforeGuard?: string[]
  /**
   * Whether the guard writes `auth.userId`, `auth.scopes` and `auth.bootstrap` into the request
   * context.
   * @default whether `@fastify/request-context` was registered before svcAuth
   */
  requestContext?: boolean
}

/** {@link SvcAuthOptions} with the defaults filled in. */
export type AuthSettings = Required<
  Omit<SvcAuthOptions, 'bootstrapKeySecret' | 'rateLimit' | 'requestContext'>
> &
  Pick<SvcAuthOptions, 'bootstrapKeySecret' | 'rateLimit' | 'requestContext'>

const text = (is: (value: string) => boolean) => (value: unknown) =>
  typeof value === 'string' && is(value)

/** Decoded, as the router reads it: a pattern or an encoded path would protect nothing. */
const isPrefix = (value: string): boolean =>
  /^\/[^?#*%\\\s]*$/.test(value) && !/\/\/|\/:|\/\.\.?(?:\/|$)/.test(value)
/**
 * A whole path, or one with `/*` at its end. As in a route's pattern, a colon begins a parameter and
 * two are one colon. Dot segments and empty segments never reach a route.
 */
const isExclusion = (value: string): boolean =>
  /^\/[^?#*:%\\\s]*$/.test(value.replace(/\/\*$/, '/').replaceAll('::', '')) &&
  !/\/\/|\/\.\.?(?:\/|$)/.test(value)
const isBasePath = (value: string): boolean => /^(?:\/[^/?#:*\s]+)+$/.test(value)
const isBuiltIn = (scope: string): boolean => BUILT_IN_SCOPES.some((builtIn) => builtIn === scope)

const LONGEST_MS = 2 ** 31 - 1

const milliseconds: OptionRule = {
  expects: `an integer from 1 to ${LONGEST_MS} (milliseconds)`,
  is: isIntegerFrom(1, LONGEST_MS),
  required: true,
}

const rateLimitRules: OptionRules = {
  maxAttempts: {
    expects: 'an integer from 1 to 10000',
    is: isIntegerFrom(1, 10_000),
    required: true,
  },
  windowMs: milliseconds,
  blockDurationMs: milliseconds,
}

const rules: OptionRules = {
  protectedPaths: {
    expects:
      '"all" or a list of path prefixes such as "/api", decoded, without parameters or wildcards',
    is: (value) => value === 'all',
    each: text(isPrefix),
    default: 'all',
  },
  excludePaths: {
    expects:
      'a list of whole paths such as "/health", or with "/*" at the end all paths below one, such as "/public/*", decoded, without parameters or any other wildcard',
    each: text(isExclusion),
    default: ['/health'],
  },
  bootstrapKeySecret: { expects: 'the name of a secret', is: isString },
  managementBasePath: {
    expects: 'a path such as "/_auth", without parameters or a slash at its end, or null',
    is: (value) => value === null || text(isBasePath)(value),
    default: '/_auth',
  },
  rateLimit: { expects: 'an object' },
  webhooksManagementPaths: {
    expects:
      'a list of path prefixes such as "/_webhooks", decoded, without parameters or wildcards',
    each: text(isPrefix),
    default: ['/_webhooks'],
  },
  scopes: {
    expects: 'a list of names such as "billing:read" that are not those of built-in scopes',
    each: text((scope) => SCOPE_NAME.test(scope) && !isBuiltIn(scope)),
    default: [],
  },
  hooksBeforeGuard: {
    expects: 'a list of names of functions',
    each: isString,
    default: [],
  },
  requestContext: { expects: 'true or false', is: isBoolean },
}

/** @throws InvalidOption naming the option, what it was and what it must be */
export function resolveAuthOptions(given: unknown): AuthSettings {
  const settings = resolveOptions<AuthSettings>('svcAuth', rules, given)
  if (settings.rateLimit === undefined) return settings
  const rateLimit = resolveOptions<RateLimit>(
    'svcAuth',
    rateLimitRules,
    settings.rateLimit,
    'rateLimit.',
  )
  return { ...settings, rateLimit }
}
