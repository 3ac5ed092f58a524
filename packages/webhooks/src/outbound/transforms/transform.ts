/** Functions that make another body of an event, for receivers with a format and a signature of their own. */
import {
  assertCustomHeaders,
  assertReplacingHeaders,
  CONTENT_TYPE,
  type CustomHeaders,
} from '../settings/custom-headers.ts'
import type { Hmacs } from './hmacs.ts'

/** The argument of a transform. The payload is a copy. */
export interface TransformInput {
  event: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the host knows what it published
  payload: any
  tenant: string | null
  deliveryId: string
  /** As the publish gave it; `null` for a test. */
  eventId: string | null
  /** 1, 2, … over all attempts of the delivery. */
  attempt: number
  /** When the event was published; of a test, when it was asked for. */
  publishedAt: Date
  /** The Unix second that the headers of the signature have. */
  timestamp: number
}

/** The argument of `sign`. */
export interface SignInput extends Hmacs {
  /** The exact text of the body. */
  body: string
  /** The Unix second that our own signature has. */
  timestamp: number
}

/** The result of a transform. */
export interface Transformed {
  /** A string is sent as it is, anything else as JSON. */
  body: string | object
  /** Headers to add. Headers of the webhook take precedence. @default none */
  headers?: Record<string, string> | undefined
  /** @default `application/json` for an object, `text/plain; charset=utf-8` for a string */
  contentType?: string | undefined
  /**
   * Makes headers that sign the body. They replace all others of the same names; `host`, `content-type` and
   * the headers that frame a message are refused. A throw is a failed attempt. @default none
   */
  sign?: Sign | undefined
}

/**
 * Signs the body of a delivery as its receiver expects it.
 *
 * @example
 * const sign: Sign = ({ body, hmac }) => ({ 'X-Hub-Signature-256': `sha256=${hmac(body)}` })
 */
export type Sign = (input: SignInput) => Record<string, string> | Promise<Record<string, string>>

/**
 * Makes the request of a delivery; `null` skips the delivery, a throw is a failed attempt. With `sign` it
 * has the time of one attempt.
 *
 * @example
 * const sms: Transform = ({ payload }) => ({ body: `Order ${payload.id} has shipped` })
 */
export type Transform = (input: TransformInput) => Transformed | null | Promise<Transformed | null>

/** A transform, and what is sent beside what it makes. */
export interface TransformDefinition {
  run: Transform
  /**
   * Whether deliveries have our own signatures as well: `X-Svc-Signature`, `X-Svc-Signature-Previous`,
   * `X-Svc-Timestamp` (with the `headerPrefix` of the host) and the headers of Standard Webhooks.
   * @default true
   */
  ownSignatures?: boolean | undefined
}

/** What a transform of ours gets: the payload as it is stored. A parsed one would have other numbers. */
export interface JsonInput {
  event: string
  json: string
  tenant: string | null
  deliveryId: string
  publishedAt: Date
}

/** A transform of ours. */
export interface JsonTransform {
  ofJson(input: JsonInput): Transformed
}

/** A transform of the host. */
export interface HostTransform {
  run: Transform
  ownSignatures: boolean
}

export type AnyTransform = HostTransform | JsonTransform

/** What a transform makes, with header names in lower case. */
export interface TransformedMessage {
  body: string
  headers: Map<string, string>
  sign?: Sign | undefined
}

/** Asks for our own body, where the host has a default transform. */
export const NO_TRANSFORM = 'none'

export const isTransformName = (name: string): boolean =>
  /^[A-Za-z0-9_.-]{1,64}$/.test(name) && name !== NO_TRANSFORM

/**
 * Checks what a transform returned.
 *
 * @throws TypeError or InvalidHeader, which the host reads in its log
 */
export function checkedTransformed(
  returned: unknown,
  headerPrefix: string,
): TransformedMessage | null {
  if (returned === null) return null
  if (typeof returned !== 'object' || Array.isArray(returned)) {
    throw new TypeError('a transform must return { body, headers?, contentType?, sign? } or null')
  }
  const { body, headers, contentType, sign } = returned as Partial<
    Record<keyof Transformed, unknown>
  >
  const isText = typeof body === 'string'
  const sent = new Map<string, string>()
  sent.set(CONTENT_TYPE, isText ? 'text/plain; charset=utf-8' : 'application/json')
  if (headers !== undefined) {
    const own = headersOf(headers, 'the headers of a transform')
    assertCustomHeaders(own, headerPrefix)
    for (const [name, value] of Object.entries(own)) sent.set(name.toLowerCase(), value)
  }
  if (contentType !== undefined) {
    if (typeof contentType !== 'string' || contentType === '') {
      throw new TypeError('the contentType of a transform must be a text')
    }
    assertCustomHeaders({ [CONTENT_TYPE]: contentType }, headerPrefix)
    sent.set(CONTENT_TYPE, contentType)
  }
  if (sign !== undefined && typeof sign !== 'function') {
    throw new TypeError('the sign of a transform must be a function')
  }
  return { body: isText ? body : jsonOf(body), headers: sent, sign: sign as Sign | undefined }
}

/** Checks what the `sign` of a transform returned. @throws TypeError or InvalidHeader, likewise */
export function checkedSignature(returned: unknown): CustomHeaders {
  const headers = headersOf(returned, 'what the sign of a transform returns')
  assertReplacingHeaders(headers)
  return headers
}

function jsonOf(body: unknown): string {
  if (['Object', 'Array'].includes(kindOf(body))) {
    const text: string | undefined = JSON.stringify(body)
    if (text !== undefined) return text
  }
  throw new TypeError(
    'the body of a transform must be a string, or a plain object or list that JSON can hold',
  )
}

/** A copy: a getter might answer with another text when it is sent than when it was checked. */
function headersOf(given: unknown, what: string): CustomHeaders {
  if (kindOf(given) === 'Object') return { ...(given as CustomHeaders) }
  throw new TypeError(`${what} must be an object of texts by the names of headers`)
}

/**
 * What is in a `Headers`, a `Map`, an `Error` or a promise is in no fields of theirs: it would be left out, and
 * nobody would be told.
 */
const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1)
