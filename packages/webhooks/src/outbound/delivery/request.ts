/** The request of an attempt: its body and the headers that the webhook adds. */
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import { CONTENT_TYPE, sentHeaders } from '../settings/custom-headers.ts'
import { checkedTransformed, type AnyTransform } from '../transforms/transform.ts'
import type { Delivery } from './attempt.ts'
import { deliveryBody } from './sign.ts'

export interface DeliveryRequest {
  body: Buffer
  /** A flat list of names and values. */
  headers: string[]
  contentType?: string | undefined
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

/**
 * The request that a transform makes; `null` skips the delivery. Of a header that the transform gives
 * as well, the webhook's own value is sent.
 *
 * @throws what the transform throws, or what is wrong with what it returned
 */
export async function transformedRequest(
  transform: AnyTransform,
  webhook: WebhookForDelivery,
  { event, payload, deliveryId, tenant = null }: Delivery,
  headerPrefix: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<DeliveryRequest | null> {
  const transformed =
    typeof transform === 'function'
      ? transform({ event, payload: JSON.parse(payload) as unknown, tenant, deliveryId })
      : transform.ofJson({ event, json: payload, tenant, deliveryId })
  const made = checkedTransformed(await inTime(transformed, limitMs, signal), headerPrefix)
  if (made === null) return null
  const { body, headers } = made
  for (const [name, value] of sentHeaders(webhook.headers ?? {}, headerPrefix)) {
    headers.set(name.toLowerCase(), value)
  }
  const contentType = headers.get(CONTENT_TYPE)
  headers.delete(CONTENT_TYPE)
  return { body, headers: [...headers].flat(), contentType }
}

/** A promise of another library or realm is no `Promise` of this one. */
const isThenable = <Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function'

/** A transform that never ends must not hold its slot. */
async function inTime<Value>(
  value: Value | PromiseLike<Value>,
  limitMs: number,
  signal: AbortSignal,
): Promise<Value> {
  if (!isThenable(value)) return value
  const { promise: cut, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason as Error)
  const timer = setTimeout(
    () => reject(new Error(`the transform took longer than ${limitMs} ms`)),
    limitMs,
  )
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([value, cut])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
