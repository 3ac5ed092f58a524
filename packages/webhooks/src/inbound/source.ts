import type { FastifyRequest } from 'fastify'

/** What the functions of a source are given: Fastify's request, and the bytes that it carried. */
export interface InboundRequest extends FastifyRequest<{
  Headers: Record<string, string | undefined>
  Querystring: Record<string, string | string[] | undefined>
}> {
  /** The body as it was received, byte for byte: signatures are made over this. Empty on a GET. */
  rawBody: Buffer
  /** Names and values in turn, as they were received: here a repeated header is seen. */
  readonly rawHeaders: string[]
}

/**
 * The secret of this name, as it is when the request comes; `null` where it is not set or empty.
 *
 * The first time that a function of a source asks for a name, the call ends with an error, which the
 * function must let pass: it is called again for the same request when the secret is there.
 */
export type SecretLookup = (name: string) => string | null

/**
 * Tells whether a request is authentic. Only `true` is: any other answer is a 401. A throw is a 500,
 * and so is a request for which none of the secrets that were asked for is set.
 *
 * `body` is the body read as UTF-8; `request.rawBody` has its bytes.
 */
export type Verify = (
  request: InboundRequest,
  body: string,
  secret: SecretLookup,
) => boolean | Promise<boolean>

/** What a sender's handshake is answered with. */
export interface InboundReply {
  /** @default 200 */
  statusCode?: number
  headers?: Record<string, string>
  /** A string is sent as `text/plain`, anything else as JSON. @default no body */
  body?: unknown
}

/** One sender of webhooks. */
export interface InboundSource {
  /** URL path that receives the sender's POST requests. */
  path: string
  /** Name of the event that a verified body is published as. */
  publishAs: string
  /** Authenticates the request: `hmac(…)`, `basicAuth(…)`, `bearerToken(…)`, `headerToken(…)` or your own. */
  verify: Verify
  /**
   * What a repeat of a request has in common with the first, of any length; called after `verify`.
   * `null` (and an empty string) skips deduplication for that request.
   * @default no deduplication
   */
  deduplicationKey?: (request: InboundRequest, body: string) => string | null
  /** How long a key is remembered, in seconds, up to ten years. @default 86400 */
  deduplicationTtlSeconds?: number
  /**
   * Answers a handshake in the place of publishing; `null` where the request is none. A POST comes
   * here verified. With this option GET is routed too, where nothing is verified beforehand:
   * `null` is a 404 there.
   * @default no handshake
   */
  respond?: (
    request: InboundRequest,
    body: string,
    secret: SecretLookup,
  ) => InboundReply | null | Promise<InboundReply | null>
}
