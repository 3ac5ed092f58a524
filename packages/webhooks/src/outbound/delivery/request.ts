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
  return {
    body: deliveryBody(event, payload, deliveryId),
    headers: headers === null ? NO_HEADERS : sentHeaders(headers, headerPrefix).flat(),
  }
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
  const request = { body, headers: [...headers].flat(), contentType, timestamp }
  const hasOwnSignatures = 'ofJson' in transform || transform.ownSignatures
  if (sign === undefined) return { ...request, hasOwnSignatures }
  const hmacs = hmacsWith([webhook.secret, ...webhook.previousSecrets])
  const text = made.body.toWellFormed()
  const signed = checkedSignature(await inTime(sign({ body: text, timestamp, ...hmacs })))
  return { ...request, hasOwnSignatures, signature: Object.entries(signed).flat() }
}

/** A transform may keep or change what it is given: nothing of it is shared with another delivery. */
const factsOf = ({ event, deliveryId, tenant = null, publishedAt }: Delivery, startedAt: Date) => ({
  event,
  tenant,
  deliveryId,
  publishedAt: new Date(publishedAt ?? startedAt),
})

const inputOf = (
  facts: ReturnType<typeof factsOf>,
  { payload, eventId, attempt }: Delivery,
  timestamp: number,
): TransformInput => ({
  ...facts,
  payload: JSON.parse(payload) as unknown,
  eventId: eventId === undefined || eventId === null ? null : publishedEventId(eventId),
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
