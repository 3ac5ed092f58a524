import { InvalidOption } from '@svc/core'
import {
  isBoolean,
  isFunction,
  isIntegerFrom,
  resolveOptions,
  type OptionRules,
} from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'
import type { Theme } from './contract/session.ts'
import type { Can } from './rights.ts'

/** A person who is signed in by the host's own login. */
export interface Access {
  /** The host's id of the person, for the audit. @default null */
  userId?: string | null | undefined
  /** The tenant that the person belongs to; `null` for an operator, who sees all tenants. */
  tenant: string | null
  /** What the person may do. */
  can: Can
  /**
   * Whether the person may loosen what an operator has set on a key: its limits, its quota, its
   * addresses, its expiry, and that it is disabled. @default true for an operator with `can: 'all'`
   */
  mayLoosen?: boolean | undefined
}

/** The event that a payload belongs to. */
export interface PayloadOf {
  /** `null` for an inbound request that became none. */
  event: string | null
  /**
   * The tenant that the event was published for, or that of the inbound request. A delivery that no
   * event made, such as a test, has the tenant of its webhook.
   */
  tenant: string | null
}

/**
 * Options of `svcConsole`.
 *
 * @example
 * const options: SvcConsoleOptions = {
 *   origin: 'https://api.example',
 *   access: (request) => request.user && { userId: request.user.id, tenant: null, can: 'all' },
 * }
 */
export interface SvcConsoleOptions {
  /** The path at which the console is served, which no management API has. @default '/console' */
  path?: string | undefined
  /**
   * The host's own login: returns who makes a request, or `null`. It is called for each request, and
   * for an open page every ten seconds with the request that opened it.
   */
  access?: ((request: FastifyRequest) => Access | null | Promise<Access | null>) | undefined
  /** Whether people sign in with a key of `@svc/auth`. @default true, without `access` */
  signInWithKey?: boolean | undefined
  /** How long a session lasts, from the sign-in on: 1 to 2592000 (30 days). @default 28800 */
  sessionSeconds?: number | undefined
  /** Origins of pages that may show the console in an iframe, such as `https://app.example`. */
  frameAncestors?: string[] | undefined
  /**
   * The origin at which browsers reach the host, such as `https://app.example`: portal links begin
   * with it.
   */
  origin?: string | undefined
  /**
   * Where the application gives new links into the portal: a path of the host, or an `http(s)://` URL.
   * A page whose link was used or has expired, or whose portal session has ended, leads there.
   * @default none
   */
  returnUrl?: string | undefined
  /**
   * Scopes, roles (`role:<name>`) and namespaces (`projects:*`) that sessions without a key may give to
   * keys. Those that open the management of keys or webhooks cannot be among them.
   * @default ['read', 'write']
   */
  scopes?: string[] | undefined
  /** The name, logo and colour of the page. @default none */
  theme?:
    | {
        /** What the page calls itself. */
        name?: string | undefined
        /** A path of the host, or a `data:image/…` URL. */
        logo?: string | undefined
        /** `#rrggbb` */
        accent?: string | undefined
      }
    | undefined
  /**
   * What the console shows of a payload: it is given a copy, and returns what is shown. Where it
   * throws nothing of the payload is shown.
   */
  redact?: ((payload: unknown, of: PayloadOf) => unknown) | undefined
}

export interface ConsoleSettings {
  path: string
  access: NonNullable<SvcConsoleOptions['access']> | null
  signInWithKey: boolean
  sessionSeconds: number
  frameAncestors: readonly string[]
  origin: string | null
  returnUrl: string | null
  scopes: readonly string[]
  theme: Theme
  redact: NonNullable<SvcConsoleOptions['redact']> | null
}

/** A segment of dots alone would be resolved by browsers: the page would be nowhere. */
const PATH = /^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9_.~-]+)+$/
const LOGO = /^(\/(?!\/)[^\s"'<>\\]{0,2000}|data:image\/[a-z+.-]+[;,][^\s"'<>\\]+)$/
const ACCENT = /^#[0-9a-f]{6}$/i

/** An origin as browsers write it. A wildcard would let in every site below a domain. */
const isOrigin = (value: unknown): boolean => {
  if (typeof value !== 'string' || !/^https?:\/\/[^/?#*\s;,']+$/.test(value)) return false
  return URL.canParse(value) && new URL(value).origin === value
}
/** No other scheme: `javascript:` would run in the page. */
const isReturnUrl = (value: unknown): boolean => {
  if (typeof value !== 'string' || value.length > 2000 || /[\s\\]/.test(value)) return false
  return /^\/(?!\/)/.test(value) || (/^https?:\/\//i.test(value) && URL.canParse(value))
}
const matches = (pattern: RegExp) => (value: unknown) =>
  typeof value === 'string' && pattern.test(value)

const RULES: OptionRules = {
  path: {
    expects: 'a path such as "/console", without a slash at its end',
    is: matches(PATH),
    default: '/console',
  },
  access: { expects: 'a function', is: isFunction, default: null },
  signInWithKey: { expects: 'true or false', is: isBoolean },
  sessionSeconds: {
    expects: 'a whole number of seconds, 1 to 2592000',
    is: isIntegerFrom(1, 30 * 24 * 3600),
    default: 8 * 3600,
  },
  frameAncestors: {
    expects: 'an array of origins such as "https://app.example"',
    each: isOrigin,
    default: [],
  },
  origin: { expects: 'an origin such as "https://app.example"', is: isOrigin, default: null },
  returnUrl: {
    expects: 'a path such as "/settings/webhooks", or a URL that begins with https:// or http://',
    is: isReturnUrl,
    default: null,
  },
  scopes: {
    expects: 'an array of names of scopes',
    each: (value) => typeof value === 'string' && value !== '',
    default: ['read', 'write'],
  },
  theme: {
    expects: 'an object',
    fields: {
      name: {
        expects: 'a text of 1 to 60 characters',
        is: (value) => typeof value === 'string' && value.length > 0 && value.length <= 60,
        default: null,
      },
      logo: {
        expects: 'a path of the host, or a data:image/ URL',
        is: matches(LOGO),
        default: null,
      },
      accent: { expects: 'a colour such as "#3b5bdb"', is: matches(ACCENT), default: null },
    },
  },
  redact: { expects: 'a function', is: isFunction, default: null },
}

/**
 * Scopes that the option `scopes` must not name: with them a session without a key could create a
 * key that can do everything.
 */
export const TOO_MUCH = ['admin', 'auth:manage', 'webhooks:manage']

export const tooMuch = (scope: string): Error =>
  new InvalidOption(
    `svcConsole: the option "scopes" must not name "${scope}", or a role that has it: to create such keys, sign in with a key that has this scope`,
  )

/** @throws InvalidOption */
export function resolveConsoleOptions(given: SvcConsoleOptions): ConsoleSettings {
  const settled = resolveOptions<Omit<ConsoleSettings, 'signInWithKey'> & SvcConsoleOptions>(
    'svcConsole',
    RULES,
    given,
  )
  const forbidden = settled.scopes.find((scope) => TOO_MUCH.includes(scope))
  if (forbidden !== undefined) throw tooMuch(forbidden)
  return { ...settled, signInWithKey: settled.signInWithKey ?? settled.access === null }
}
