import type { Connected } from './guarded-agent.ts'

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

const BY_CODE: Record<string, Failure> = {
  SVC_WEBHOOKS_BLOCKED: 'blocked',
  SVC_WEBHOOKS_PROXY: 'proxy',
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EHOSTDOWN: 'refused',
  EACCES: 'refused',
  EPERM: 'refused',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too-large',
  EPROTO: 'tls',
}

/**
 * Codes of OpenSSL and Node for a certificate or a handshake that failed. `UNSPECIFIED` is Node's for
 * all defects of a certificate without a code: a name that its authority may not issue for, an unknown
 * critical extension, a key that is too short.
 */
const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH_|ERROR_IN_C|UNSPECIFIED$)/

/** The class of an exchange's error. */
export function classifyError(error: Error & { code?: unknown }): Failure {
  const code = String(error.code)
  const known = BY_CODE[code]
  if (known !== undefined) return known
  if (code.startsWith('EAI_')) return 'dns'
  if (TLS_CODE.test(code)) return 'tls'
  // A connection that ends inside a chunk is an error of the parser.
  if (error.name === 'HTTPParserError') return /EOF/.test(error.message) ? 'reset' : 'http'
  // undici's messages for an answer that comes at a wrong time, and for an unexpected 101.
  if (/^bad (?:response|upgrade)$/.test(error.message)) return 'http'
  return 'reset'
}

/** Codes of this machine, its network and its limits. */
const OURS = new Set([
  'SVC_WEBHOOKS_BLOCKED',
  'SVC_WEBHOOKS_PROXY',
  'EACCES',
  'EPERM',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
])

/**
 * Whether an error is no evidence about the receiver. `EAI_…` is a resolver that has no answer,
 * while `ENOTFOUND` is the answer that there is no such name.
 */
export function isOurFault({ code }: Error & { code?: unknown }): boolean {
  const text = String(code)
  return OURS.has(text) || text.startsWith('EAI_')
}
