/** Requests of providers of webhooks. The presets are those of `@svc/webhooks`, which is not needed here. */
import { installed } from '@svc/core/internal'

/** What a provider signs a request with. */
export interface SignedOptions {
  /** The secret that the host has under `secretName`. */
  secret?: string | undefined
  /**
   * The private key of a provider that signs with a key pair, in PEM. The host has the public one.
   */
  privateKey?: string | undefined
  /**
   * Where the request goes. Providers that sign the URL need it whole, with the `publicOrigin` of the
   * source: `https://example.com/hooks/square`.
   */
  url?: string | undefined
  /** The type of the sample that is sent, or whose headers the body gets. @default the first */
  type?: string | undefined
  /** Headers that replace those of the provider. */
  headers?: Record<string, string> | undefined
  /** When it is signed. @default now */
  at?: Date | undefined
  /** What the preset needs besides, under the name that it has there: `username`, `webhookId`, … */
  [need: string]: unknown
}

/** A request for `app.inject`. */
export interface SignedRequest {
  method: 'POST'
  /** Path and query, where `url` was given. */
  url?: string
  headers: Record<string, string>
  payload: string
}

type Sign = (provider: string, body: unknown, options: SignedOptions) => SignedRequest

// Loaded with this module, since `signed` returns at once.
const webhooks = (await installed('@svc/webhooks/testing')) as { signedRequest: Sign } | undefined

/**
 * A request as the provider would send and sign it, for `app.inject`. Without a body it is a sample of
 * the provider; an object is written as JSON, or as a form where the provider sends forms.
 *
 * @param provider the name of a preset of `@svc/webhooks/providers`, such as `github`
 * @throws Error where `@svc/webhooks` is not installed, or the provider's requests cannot be made
 *   by a test
 * @example
 * await app.inject({ url: '/hooks/github', ...signed('github', { ref: 'main' }, { secret }) })
 */
export function signed(
  provider: string,
  body?: unknown,
  options: SignedOptions = {},
): SignedRequest {
  if (webhooks) return webhooks.signedRequest(provider, body, options)
  throw new Error(
    'signed makes requests by the presets of @svc/webhooks, which is not installed here: npm install @svc/webhooks',
  )
}
