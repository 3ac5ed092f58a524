/** The session, and what the server tells its page. */
import type { Right } from '../rights.ts'

export interface ErrorAnswer {
  statusCode: number
  /** Such as `SVC_WEBHOOKS_NOT_FOUND`. */
  code: string
  error: string
  message: string
}

export interface Theme {
  /** What the page calls itself; `null` for its own name. */
  name: string | null
  /** A path of the host, or a `data:image/…` URL. */
  logo: string | null
  /** `#rrggbb`. */
  accent: string | null
}

/** Which screens have something behind them in this host. */
export interface Features {
  /** `@svc/auth` is there: users, keys, usage. */
  auth: boolean
  /** `@svc/webhooks` is there: webhooks, deliveries, catalogue, inbound. */
  webhooks: boolean
}

export interface SignedOut {
  signedIn: false
  /**
   * `key`: the page has a sign-in with a key. `host`: the login is that of the host, or a link of
   * the portal.
   */
  signIn: 'key' | 'host'
  /** Where the application gives new links into the portal; `null` where the host has not said it. */
  returnUrl: string | null
  theme: Theme
}

export interface SignedIn {
  signedIn: true
  /** How: with a key, by a link of the portal, or by the login of the host. */
  via: 'key' | 'portal' | 'host'
  userId: string | null
  keyId: string | null
  /** `null` for the operator, who sees all tenants. */
  tenant: string | null
  operator: boolean
  can: Right[]
  /** Whether `events.list` takes a `text`: where payloads are masked, not of every session. */
  searchesPayloads: boolean
  /** Whether it may do what needs `admin`: pauses, handlers, and `deliveries.redeliver` with a `url`. */
  isAdmin: boolean
  /** ISO 8601; `null` where the login is that of the host. */
  expiresAt: string | null
  features: Features
  /** The path of the feed of events, where this session may see events; else `null`. */
  feed: string | null
  theme: Theme
  /** Whether the page has no navigation, header and sign-out of its own: it is part of another one. */
  embed: boolean
  /** `auto`: that of the browser. */
  colorScheme: 'light' | 'dark' | 'auto'
}

export type Session = SignedOut | SignedIn

export interface SignIn {
  key: string
}

/**
 * Something changed: the page loads again what it shows of it. At most one hint of a type a second.
 */
export interface Hint {
  /** `session`: the session has ended, and the stream with it. */
  type: 'webhooks' | 'deliveries' | 'inbound' | 'keys' | 'users' | 'audit' | 'session'
}
