/** Functions that make another body of an event, for receivers with a format of their own. */
import {
  assertCustomHeaders,
  CONTENT_TYPE,
  type CustomHeaders,
} from '../settings/custom-headers.ts'

/** The argument of a transform. The payload is a copy. */
export interface TransformInput {
  event: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the host knows what it published
  payload: any
  tenant: string | null
  deliveryId: string
}

/** The result of a transform. */
export interface Transformed {
  /** A string is sent as it is, anything else as JSON. */
  body: string | object
  /** Headers to add. Headers of the webhook take precedence. @default none */
  headers?: Record<string, string> | undefined
  /** @default `application/json` for an object, `text/plain; charset=utf-8` for a string */
  contentType?: string | undefined
}

/**
 * Makes the request of a delivery; `null` skips the delivery, a throw is a failed attempt.
 *
 * @example
 * const sms: Transform = ({ payload }) => ({ body: `Order ${payload.id} has shipped` })
 */
export type Transform = (input: TransformInput) => Transformed | null | Promise<Transformed | null>

/** What a transform of ours gets: the payload as it is stored. A parsed one would have other numbers. */
export interface JsonInput {
  event: string
  json: string
  tenant: string | null
  deliveryId: string
}

/** A transform of ours. */
export interface JsonTransform {
  ofJson(input: JsonInput): Transformed
}

export type AnyTransform = Transform | JsonTransform

/** The request to send, with header names in lower case. */
export interface TransformedRequest {
  body: Buffer
  headers: Map<string, string>
}

export const isTransformName = (name: string): boolean => /^[A-Za-z0-9_.-]{1,64}$/.test(name)

/**
 * Checks what a transform returned.
 *
 * @throws TypeError or InvalidHeader, which the host reads in its log
 */
export function checkedTransformed(
  returned: unknown,
  headerPrefix: string,
): TransformedRequest | null {
  if (returned === null) return null
  if (typeof returned !== 'object' || Array.isArray(returned)) {
    throw new TypeError('a transform must return { body, headers?, contentType? } or null')
  }
  const { body, headers, contentType } = returned as Partial<Record<keyof Transformed, unknown>>
  const isText = typeof body === 'string'
  const sent = new Map<string, string>()
  sent.set(CONTENT_TYPE, isText ? 'text/plain; charset=utf-8' : 'application/json')
  if (headers !== undefined) {
    for (const [name, value] of Object.entries(checkedHeaders(headers, headerPrefix))) {
      sent.set(name.toLowerCase(), value)
    }
  }
  if (contentType !== undefined) {
    if (typeof contentType !== 'string' || contentType === '') {
      throw new TypeError('the contentType of a transform must be a text')
    }
    sent.set(CONTENT_TYPE, checkedHeaders({ [CONTENT_TYPE]: contentType }, headerPrefix)[CONTENT_TYPE]!)
  }
  return { body: Buffer.from(isText ? body : jsonOf(body)), headers: sent }
}

function jsonOf(body: unknown): string {
  if (typeof body === 'object' && body !== null) {
    const text: string | undefined = JSON.stringify(body)
    if (text !== undefined) return text
  }
  throw new TypeError('the body of a transform must be a string, or an object that JSON can hold')
}

function checkedHeaders(headers: unknown, prefix: string): CustomHeaders {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw new TypeError('the headers of a transform must be an object of texts')
  }
  assertCustomHeaders(headers as CustomHeaders, prefix)
  return headers as CustomHeaders
}
