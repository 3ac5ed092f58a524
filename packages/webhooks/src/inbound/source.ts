import type { FastifyRequest } from 'fastify'
import type { ProviderClient, SignableRow } from '@svc/providers/internal'

/** The request that the functions of a source are given: Fastify's, with the bytes of its body. */
export interface InboundRequest extends FastifyRequest<{
  Headers: Record<string, string | undefined>
  Querystring: Record<string, string | string[] | undefined>
}> {
  /** The body as it was received, byte for byte: signatures are made over this. Empty on a GET. */
  rawBody: Buffer
  /** Names and values in turn, as they were received, with every repeated header. */
  readonly rawHeaders: string[]
}

/**
 * Returns the secret of this name, as it is when the request arrives; `null` where it is not set or
 * empty.
 *
 * The first time that a function of a source uses a name, the call throws. The function must not
 * catch the error: it is called again for the same request when the secret has been looked up.
 */
export type SecretLookup = (name: string) => string | null

/**
 * Returns whether a request is authentic: `true`, or anything else for a 401. A throw is a 500, and
 * so is a request for which none of the used secrets is set.
 *
 * `body` is the body as text: by the charset that its type names, else UTF-8, else a character for
 * each byte. `request.rawBody` has its bytes. `providerClient` fetches what presets need of their
 * provider.
 *
 * @example
 * const verify: Verify = (request, body, secret) =>
 *   isSignedWith(secret('SENDER_KEY'), body, request.headers['x-signature'])
 */
export type Verify = (
  request: InboundRequest,
  body: string,
  secret: SecretLookup,
  providerClient?: ProviderClient,
) => boolean | Promise<boolean>

/**
 * Answers a handshake; `null` for any other request.
 *
 * @example
 * const respond: Respond = (request) =>
 *   request.query.challenge === undefined ? null : { body: request.query.challenge }
 */
export type Respond = (
  request: InboundRequest,
  body: string,
  secret: SecretLookup,
  providerClient?: ProviderClient,
) => InboundReply | null | Promise<InboundReply | null>

/** The reply to a sender's handshake. */
export interface InboundReply {
  /** @default 200 */
  statusCode?: number | undefined
  headers?: Record<string, string> | undefined
  /** A string is sent as `text/plain`, anything else as JSON. @default no body */
  body?: unknown
}

/**
 * One sender of webhooks.
 *
 * @example
 * const shop: InboundSource = {
 *   path: '/hooks/shop',
 *   publishAs: 'shop.order',
 *   verify: hmac({ secretName: 'SHOP_SECRET', signatureHeader: 'x-shop-signature' }),
 *   deduplicationKey: (request) => request.headers['x-shop-delivery'] ?? null,
 * }
 */
export interface InboundSource {
  /**
   * URL path that receives the sender's POST requests. Parameters (`/hooks/:connection/stripe`)
   * make it a source of many connections: deduplication keys are separate for each of their values.
   */
  path: string
  /** Name of the event that a verified body is published as, or a function of the request, and of the item where there is `split`. */
  publishAs: string | ((request: InboundRequest, body: string, item?: unknown) => string)
  /** Authenticates the request: `hmac(…)`, `basicAuth(…)`, `bearerToken(…)`, `headerToken(…)` or your own. */
  verify: Verify
  /**
   * Returns text, of any length, that a repeat of a request shares with the first; called after
   * `verify`, for each item where there is `split`. `null`, or an empty string, skips deduplication.
   * @default no deduplication
   */
  deduplicationKey?:
    | ((request: InboundRequest, body: string, item?: unknown) => string | null)
    | undefined
  /** How long a key is remembered, in seconds, up to ten years. @default 86400 */
  deduplicationTtlSeconds?: number | undefined
  /**
   * Returns the items of a batch, of the parsed body: each is published as an event of its own, all in
   * one transaction. @default the body is one event
   */
  split?: ((body: unknown) => readonly unknown[]) | undefined
  /** The tenant that the event is published for; `null` for none. @default none */
  tenant?: ((request: InboundRequest, body: string) => string | null) | undefined
  /**
   * Reads a body as JSON, whatever its content type; or returns the payload as JSON text itself.
   * @default by its content type
   */
  readAs?: 'json' | ((request: InboundRequest, body: string) => string) | undefined
  /**
   * Answers a handshake instead of publishing; returns `null` for any other request. A POST was
   * verified before. With this option GET and HEAD are routed too and are not verified before: there
   * `null` is a 404.
   * @default no handshake
   */
  respond?: Respond | undefined
  /**
   * As `respond`, for a POST that its sender does not sign: called before `verify`. Whatever it
   * answers is no event. @default no such handshake
   */
  respondUnverified?: Respond | undefined
  /** The answer to what was accepted, and to repeats: a 2xx. @default 200, `{ status, eventId }` */
  answer?: InboundReply | undefined
  /** Errors are answered without a body, for senders that take no other answer. @default false */
  emptyErrors?: boolean | undefined
}

/** How a sample is signed. */
export interface Signs {
  row: SignableRow
  /** What the row needs besides the secret. */
  options: Readonly<Record<string, unknown>>
  /** A host describes it itself: it is no preset. */
  isOwn?: true
}

/** What a function that we have made says of itself. */
export interface About {
  /** The names of the secrets that it uses, or those of a request. */
  secrets?: readonly string[] | ((request: InboundRequest) => readonly string[])
  /** Headers with a signature or a credential: no log shows them. */
  hides?: readonly string[]
  /** Headers with a type, an id or a time, which are no secret. */
  shows?: readonly string[]
  /** How what it verifies is signed, or why a sample cannot be. */
  signs?: Signs | string
}

const ABOUT = Symbol('svc.about')

export const saying = <Fn extends object>(fn: Fn, about: About): Fn =>
  Object.assign(fn, { [ABOUT]: about })

/** A function of the host says nothing. */
export const aboutOf = (fn: unknown): About =>
  (typeof fn === 'function' && (fn as { [ABOUT]?: About })[ABOUT]) || {}
