/**
 * The requests and answers between the page and the server. The page imports this file as types
 * only, so it imports nothing itself.
 *
 * - `POST <base>/api/<operation>` with a JSON body, the `input` → 200 and the `result`, or
 *   {@link ErrorAnswer} with its status. `content-type: application/json` is needed; a browser
 *   sends `Origin` and `Sec-Fetch-Site` itself.
 * - `GET <base>/api/session` → {@link Session}; `POST <base>/api/session` {@link SignIn} → the same
 *   with `signedIn: true`, or 401/403/429; `POST <base>/api/session/end` `{}` → {@link Session}.
 * - `GET <base>/api/live` → Server-Sent Events without names, whose `data` is a {@link Hint}.
 *
 * `<base>`: the server writes the path that the console is mounted at into the page, as `<meta
 * name="svc-console-base" content="/console">`, in place of `%BASE%` of the built `index.html`, and
 * puts it before each `./assets/` there; and the theme's name in place of `%NAME%`.
 */

import type {
  ApiKey,
  AuditEntry,
  AuditQuery,
  CreatedApiKey,
  Health,
  KeyFields,
  ListedLink,
  ListedSession,
  PortalLinkInput,
  Right,
  TenantSummary,
  Usage,
  User,
} from './contract/access.ts'
import type { Count, OfTenant, Page, Paging, Span } from './contract/lists.ts'
import type {
  Attempt,
  Delivery,
  DeliveryQuery,
  EventDescription,
  EventInFull,
  EventQuery,
  Filter,
  InboundOutcome,
  InboundRequest,
  PublishedEvent,
  RecoverInput,
  Recovery,
  Stats,
  StatsQuery,
  TriedEvent,
  Webhook,
  WebhookSecrets,
  WebhookState,
  WebhookSettings,
} from './contract/webhooks.ts'

export type * from './contract/access.ts'
export type * from './contract/lists.ts'
export type * from './contract/webhooks.ts'

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
  /** Whether `deliveries.redeliver` takes a `url`. */
  redeliversElsewhere: boolean
  /** ISO 8601; `null` where the login is that of the host. */
  expiresAt: string | null
  features: Features
  theme: Theme
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

interface Call<Input, Result> {
  input: Input
  result: Result
}

type Nothing = Record<never, never>
type Id = { id: string }

/** All operations, by the names in their URLs. */
export interface Calls {
  'webhooks.list': Call<Paging & OfTenant & { state?: WebhookState }, Page<Webhook>>
  'webhooks.count': Call<OfTenant & { state?: WebhookState }, Count>
  'webhooks.get': Call<Id, Webhook>
  'webhooks.secrets': Call<Id, WebhookSecrets>
  'webhooks.create': Call<
    { url: string; events: string | string[]; tenant?: string | null } & WebhookSettings,
    Webhook & WebhookSecrets
  >
  'webhooks.update': Call<
    Id & { url?: string; events?: string | string[]; active?: boolean } & WebhookSettings,
    Webhook
  >
  'webhooks.delete': Call<Id, Nothing>
  'webhooks.rotateSecret': Call<Id & { overlapSeconds?: number }, { secret: string }>
  'webhooks.test': Call<Id & { event?: string }, { deliveryId: string }>
  /** `id`: of the recovery, which a `dryRun` does not have. `atLeast`: as of a {@link Count}. */
  'webhooks.recover': Call<RecoverInput, { id?: string; deliveries: number; atLeast?: true }>
  'webhooks.recoveries': Call<Paging & { webhookId: string }, Page<Recovery>>
  /** Which of the newest events of these names a filter matches: at most 50. Changes nothing. */
  'webhooks.tryFilter': Call<
    { filter: Filter | null; events: string | string[]; tenant?: string | null },
    { events: TriedEvent[] }
  >

  'deliveries.list': Call<DeliveryQuery, Page<Attempt>>
  'deliveries.get': Call<{ webhookId: string; deliveryId: string }, Delivery>
  'deliveries.redeliver': Call<
    { webhookId: string; deliveryId: string; url?: string },
    { deliveryId: string }
  >
  'deadLetters.list': Call<DeliveryQuery, Page<Attempt>>
  'deadLetters.count': Call<OfTenant & { webhookId?: string }, Count>
  /** All of a webhook, or some by their ids. */
  'deadLetters.redrive': Call<{ webhookId: string; ids?: string[] }, { redriven: number }>
  'stats.get': Call<StatsQuery, Stats>

  /** With `events:read` or `webhooks:read`. */
  'catalogue.list': Call<Nothing, { items: EventDescription[] }>
  /** `complete`: `false` where the search took long and ended before the page was full. */
  'events.list': Call<EventQuery, Page<PublishedEvent> & { complete: boolean }>
  'events.get': Call<{ name: string; id: string; tenant?: string }, EventInFull>

  'inbound.list': Call<
    Paging & OfTenant & Span & { source?: string; outcome?: InboundOutcome },
    Page<InboundRequest>
  >
  'inbound.replay': Call<Id, { eventId: string; eventIds?: string[] }>

  'users.list': Call<Paging & OfTenant, Page<User>>
  'users.get': Call<Id, User>
  'users.create': Call<{ email: string; name: string; role?: string; tenant?: string | null }, User>
  'users.delete': Call<Id, Nothing>

  'keys.list': Call<
    Paging &
      OfTenant & {
        userId?: string
        prefix?: string
        state?: 'active' | 'expired' | 'revoked' | 'disabled'
        unusedSince?: string
      },
    Page<ApiKey>
  >
  'keys.get': Call<Id, ApiKey>
  /** The users that a key can be made for, by name. */
  'keys.owners': Call<Paging & OfTenant, Page<{ id: string; name: string }>>
  'keys.create': Call<{ userId: string } & KeyFields, CreatedApiKey>
  'keys.update': Call<Id & KeyFields, ApiKey>
  'keys.rotate': Call<Id & { overlapSeconds?: number }, CreatedApiKey>
  'keys.revoke': Call<Id, Nothing>
  'keys.usage': Call<
    OfTenant & { keyId?: string; from?: string; to?: string; by?: 'hour' | 'day' },
    Usage
  >
  /** The scopes, roles and namespaces that a key can have, and which of them this session is offered. */
  'keys.scopes': Call<Nothing, { items: { name: string; grantable: boolean }[] }>

  'tenants.list': Call<Paging, Page<TenantSummary>>
  /** Which rights a link may give, and which it gives without `can`. */
  'portal.rights': Call<Nothing, { items: { name: Right; usual: boolean }[] }>
  /** `link`: a URL where the host has configured its origin, else a path. It is shown once. */
  'portal.link': Call<PortalLinkInput, { id: string; link: string; expiresAt: string }>
  /** Links that nobody has followed yet. */
  'portal.links': Call<Paging & OfTenant, Page<ListedLink>>
  'portal.revoke': Call<Id, Nothing>
  'audit.list': Call<AuditQuery, Page<AuditEntry>>
  'health.get': Call<Nothing, Health>
  'sessions.list': Call<Paging & OfTenant, Page<ListedSession>>
  'sessions.end': Call<Id, Nothing>
}

export type CallName = keyof Calls
export type CallInput<Name extends CallName> = Calls[Name]['input']
export type CallResult<Name extends CallName> = Calls[Name]['result']
