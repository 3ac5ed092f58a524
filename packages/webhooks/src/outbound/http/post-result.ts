import type { Connected } from './connecting.ts'

/**
 * Why an attempt failed. `proxy` is a fault of the proxy of the host: nothing has reached the receiver.
 * `http` is an answer that is neither 2xx nor a redirect, or an answer that is not
 * HTTP.
 */
export type Failure =
  | 'dns'
  | 'refused'
  | 'reset'
  | 'timeout'
  | 'tls'
  | 'blocked'
  | 'redirect'
  | 'too-large'
  | 'proxy'
  | 'http'

/** The result of one HTTP request. */
export interface PostResult {
  /** `null` where no answer began. */
  statusCode: number | null
  /** What broke the exchange; `null` where the answer was complete, or was cut off at the limit. */
  failure: Failure | null
  /** Set where the failure is not the receiver's: our network, our name servers, our options. */
  isOurFault?: true
  /** The header `Retry-After`. */
  retryAfter: string | null
  /** The first KiB of the answer, as text. */
  responseBody: string | null
  /** The headers of the answer. */
  responseHeaders?: ResponseHeaders
  /** Of a new connection. */
  connected?: Connected | undefined
  /** From the begin of the request to the first byte of the answer, in milliseconds. */
  firstByteMs?: number
  /** From there to the end. */
  bodyMs?: number
}

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>
