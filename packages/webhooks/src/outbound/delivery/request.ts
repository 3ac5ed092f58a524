/** The request of an attempt: its body and the headers that the webhook adds. */
import { publishedEventId } from '@svc/core/internal'
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import { CONTENT_TYPE, sentHeaders } from '../settings/custom-headers.ts'
import { hmacsWith } from '../transforms/hmacs.ts'
import {
  checkedSignature,
  checkedTransformed,
  type AnyTransform,
  type TransformInput,
} from '../transforms/transform.ts'
import type { Delivery } from './attempt.ts'
import { deliveryBody } from './sign.ts'

export interface DeliveryRequest {
  body: Buffer
  /** A flat list of names and values. */
  headers: string[]
  contentType?: string | undefined
  /** The values of headers that no answer may repeat. */
  secrets: readonly string[]
  /** Those that replace others of the same names, ours too: a flat list. @default none */
  signature?: string[]
  /** Whether our own signatures are sent. @default true */
  hasOwnSignatures?: boolean
  /** The Unix second that is signed. @default that in which it is sent */
  timestamp?: number
}

const NO_HEADERS: string[] = []

/** The request of a webhook without a transform. */
export function plainRequest(
  { headers }: WebhookForDelivery,
  { event, payload, deliveryId }: Delivery,
  headerPrefix: string,
): DeliveryRequest {
  const body = deliveryBody(event, payload, deliveryId)
  if (headers === null) return { body, headers: NO_HEADERS, secrets: NO_HEADERS }
  const sent = sentHeaders(headers, headerPrefix).flat()
  return { body, headers: sent, secrets: Object.values(headers) }
}

export interface TransformSettings {
  headerPrefix: string
  /** When the attempt began. */
  startedAt: Date
  /** The time that the transform and its signature have together. */
  limitMs: number
  signal: AbortSignal
}

/**
 * The request that a transform makes; `null` skips the delivery. Of a header that the transform gives
 * as well, the webhook's own value is sent; what its `sign` gives replaces both.
 *
 * @throws what the transform throws, or what is wrong with what it returned
 */
export async function transformedRequest(
  transform: AnyTransform,
  webhook: WebhookForDelivery,
  delivery: Delivery,
  { headerPrefix, startedAt, limitMs, signal }: TransformSettings,
): Promise<DeliveryRequest | null> {
  const inTime = timeLimit(limitMs, signal)
  const timestamp = Math.floor(startedAt.getTime() / 1000)
  const facts = factsOf(delivery, startedAt)
  const returned =
    'ofJson' in transform
      ? transform.ofJson({ ...facts, json: delivery.payload })
      : await inTime(transform.run(inputOf(facts, delivery, timestamp)))
  const made = checkedTransformed(returned, headerPrefix)
  if (made === null) return null
  const { headers, sign } = made
  for (const [name, value] of sentHeaders(webhook.headers ?? {}, headerPrefix)) {
    headers.set(name.toLowerCase(), value)
  }
  const contentType = headers.get(CONTENT_TYPE)
  headers.delete(CONTENT_TYPE)
  const body = Buffer.from(made.body)
  const hasOwnSignatures = 'ofJson' in transform || transform.ownSignatures
  // What differs in each delivery is no secret, and to look for all its spellings in the answer takes longer than
  // to make the request.
  const open = [facts.event, facts.deliveryId, facts.eventId]
  const secrets = [...headers.values()].filter((value) => !open.includes(value))
  const request = {
    body,
    headers: [...headers].flat(),
    contentType,
    secrets,
    hasOwnSignatures,
    timestamp,
  }
  if (sign === undefined) return request
  const signatures: string[] = []
  const hmacs = hmacsWith([webhook.secret, ...webhook.previousSecrets], signatures)
  const text = made.body.toWellFormed()
  const signed = checkedSignature(await inTime(sign({ body: text, timestamp, ...hmacs })))
  for (const value of Object.values(signed)) {
    if (!signatures.some((signature) => value.includes(signature))) secrets.push(value)
  }
  return { ...request, signature: Object.entries(signed).flat() }
}

/** A transform may keep or change what it is given: nothing of it is shared with another delivery. */
const factsOf = (
  { event, deliveryId, eventId = null, tenant = null, publishedAt }: Delivery,
  startedAt: Date,
) => ({
  event,
  tenant,
  deliveryId,
  eventId: eventId === null ? null : publishedEventId(eventId),
  publishedAt: new Date(publishedAt ?? startedAt),
})

const inputOf = (
  facts: ReturnType<typeof factsOf>,
  { payload, attempt }: Delivery,
  timestamp: number,
): TransformInput => ({
  ...facts,
  payload: JSON.parse(payload) as unknown,
  attempt,
  timestamp,
})

/** A promise of another library or realm is no `Promise` of this one. */
const isThenable = <Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function'

/** Awaits values, all of them together for as long as the limit: one that never comes must not hold its slot. */
function timeLimit(limitMs: number, signal: AbortSignal) {
  const endMs = performance.now() + limitMs
  return async <Value>(value: Value | PromiseLike<Value>): Promise<Value> => {
    if (!isThenable(value)) return value
    const { promise: cut, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(signal.reason as Error)
    const timer = setTimeout(
      () => reject(new Error(`the transform took longer than ${limitMs} ms`)),
      endMs - performance.now(),
    )
    signal.addEventListener('abort', onAbort)
    try {
      return await Promise.race([value, cut])
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }
}
