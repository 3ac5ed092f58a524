/** The rules and defaults of the options of `svcAuth`. */
import {
  isBoolean,
  isFunction,
  isIntegerFrom,
  isPlainObject,
  isString,
  type OptionRule,
  type OptionRules,
} from '@svc/core/internal'
import { isGithubKeys } from './github-alerts.ts'
import { isLimit, isQuota } from './limit-fields.ts'
import { isHostScope, SCOPE_NAME } from './scopes.ts'

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
const isRoles = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(
    ([name, scopes]) =>
      SCOPE_NAME.test(name) && Array.isArray(scopes) && scopes.every((scope) => isString(scope)),
  )

/** Those that have another meaning, frame the message, or are of one hop alone. */
const NO_KEY_HEADERS = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** RFC 9110, section 5.6.2: a token. */
const isKeyHeader = (value: string): boolean =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(value) && !NO_KEY_HEADERS.has(value.toLowerCase())

const LONGEST_MS = 2 ** 31 - 1

const milliseconds: OptionRule = {
  expects: `an integer from 1 to ${LONGEST_MS} (milliseconds)`,
  is: isIntegerFrom(1, LONGEST_MS),
  required: true,
}

const LONGEST_DAYS = 36_500

const days: OptionRule = {
  expects: `an integer from 1 to ${LONGEST_DAYS} (days)`,
  is: isIntegerFrom(1, LONGEST_DAYS),
}

const limits: OptionRule = {
  expects: 'a list of limits such as { limit: 1000, perSeconds: 60 }, whole numbers of at least 1',
  each: isLimit,
}

const quota: OptionRule = {
  expects: 'a quota such as { limit: 10000, period: "month" }, by the day, the month or in total',
  is: isQuota,
}

/** A plan. */
export const planRules: OptionRules = {
  tenantLimits: limits,
  tenantQuota: quota,
  keyLimits: limits,
  keyQuota: quota,
  maxKeys: { expects: 'an integer of at least 0', is: isIntegerFrom(0) },
}

export const rules: OptionRules = {
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
  rateLimit: {
    expects: 'an object',
    fields: {
      maxAttempts: {
        expects: 'an integer from 1 to 10000',
        is: isIntegerFrom(1, 10_000),
        required: true,
      },
      windowMs: milliseconds,
      blockDurationMs: milliseconds,
    },
    default: undefined,
  },
  webhooksManagementPaths: {
    expects:
      'a list of path prefixes such as "/_webhooks", decoded, without parameters or wildcards',
    each: text(isPrefix),
    default: ['/_webhooks'],
  },
  scopes: {
    expects: 'a list of names such as "billing:read" that are not those of built-in scopes',
    each: text(isHostScope),
    default: [],
  },
  roles: {
    expects: 'an object of lists of scopes by names such as "viewer"',
    is: isRoles,
    default: {},
  },
  maxKeysPerTenant: { expects: 'an integer of at least 1', is: isIntegerFrom(1) },
  maxKeyLifetimeDays: days,
  expiryNoticeDays: {
    expects: 'a list of integers from 1 to 36500 (days)',
    each: isIntegerFrom(1, LONGEST_DAYS),
    default: [30, 7, 1],
  },
  unusedNoticeDays: days,
  githubLeaks: {
    expects: 'an object',
    fields: {
      keys: {
        expects: 'a list of { key_identifier, key }, as GitHub lists its public keys',
        is: isGithubKeys,
      },
    },
    default: undefined,
  },
  tenantLimits: { ...limits, default: [] },
  plans: { expects: 'an object of plans by names such as "free"', is: isPlainObject },
  planOf: {
    expects: 'a function that returns the name of the plan of a tenant, or null',
    is: isFunction,
  },
  importedKeys: {
    expects: 'an object',
    fields: {
      hash: {
        expects: 'a function that makes of the text of a key what another system has stored of it',
        is: isFunction,
        required: true,
      },
    },
    default: undefined,
  },
  usage: { expects: 'true or false', is: isBoolean, default: true },
  keyHeaders: {
    expects:
      'a list of up to 4 names of headers such as "x-acme-key", but not of Authorization, Cookie, Host and those that frame a message or are of one hop',
    each: text(isKeyHeader),
    default: [],
  },
  basic: { expects: 'true or false', is: isBoolean, default: false },
  keyPrefix: {
    expects: '1 to 3 letters from a to z',
    is: text((letters) => /^[a-z]{1,3}$/.test(letters)),
    default: 'svc',
  },
  openapi: { expects: 'true or false', is: isBoolean, default: true },
  hooksBeforeGuard: {
    expects: 'a list of functions, or of their names',
    each: (hook) => isString(hook) || isFunction(hook),
    default: [],
  },
  requestContext: { expects: 'true or false', is: isBoolean },
}
