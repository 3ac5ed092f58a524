/** The request of an attempt: its body, its headers and its signatures. */
import { publishedEventId, traceHeadersOf, within } from '@svc/core/internal'
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import { CONTENT_TYPE, sentHeaders } from '../settings/custom-headers.ts'
import { hmacsWith } from '../transforms/hmacs.ts'
import {
  checkedSignature,
  checkedTransformed,
  NO_TRANSFORM,
  type AnyTransform,
  type TransformInput,
} from '../transforms/transform.ts'
import { ownSignature, standardSignature } from '@svc/receiver/internal'
import type { HeaderNames } from '../settings/header-names.ts'
import { ed25519Signature, type SigningKey, type SigningKeys } from './ed25519.ts'

/** The request of an attempt. */
export interface Delivery {
  event: string
  /** JSON text. */
  payload: string
  deliveryId: string
  /** 1, 2, … over all attempts of the delivery. */
  attempt: number
  /** The id of the event as it is stored. @default none: no event made the delivery */
  eventId?: string | null
  /** When the event was published; a number is in milliseconds. @default when the attempt begins */
  publishedAt?: Date | number
  /** The tenant of the event. */
  tenant?: string | null
  /** The trace context of the attempt, or of the publish where attempts are not traced. */
  traceContext?: string | null
  /** A test: it is marked as one. */
  isTest?: boolean | undefined
  /** The webhook is disabled: the attempt shows whether its receiver works again. */
  isProbe?: boolean
  /** It goes to another address than that of the webhook, and is no evidence about its receiver. */
  isAtOtherUrl?: boolean
  /** The transform took most of the time of the attempt: a time-out is no evidence about the receiver. */
  isLate?: boolean
}

/** What the headers of a delivery are made by. */
export interface RequestSettings {
  headerNames: HeaderNames
  standardWebhooks: boolean
  signingKeys: SigningKeys | null
  propagateTraceContext: boolean
}

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
    signal.addEventListener('abort', onAbort)
    try {
      return await within(endMs - performance.now(), Promise.race([value, cut]), () => {
        throw new Error(`the transform took longer than ${limitMs} ms`)
      })
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/** The body to send. Exactly these bytes are signed. */
export interface Message {
  event: string
  deliveryId: string
  /** 1, 2, … over all attempts of one delivery. */
  attempt: number
  /** A test: it shows whether the receiver works, and no event has happened. */
  isTest?: boolean | undefined
  /** The tenant of the event, where the receiver gets the events of all tenants. */
  tenant?: string | null | undefined
  body: Buffer
}

export interface Signing {
  secret: string
  /** The secrets before the last rotations that are still valid, newest first. */
  previousSecrets: readonly string[]
  /** Whether the headers of Standard Webhooks 1.0 are sent as well. */
  standardWebhooks: boolean
  /** Sign with ed25519 as well, in the headers of Standard Webhooks. */
  ed25519?: readonly SigningKey[]
}

/** The body of a delivery. The payload is inserted as JSON text: its numbers and key order survive. */
export function deliveryBody(event: string, payload: string, deliveryId: string): Buffer {
  return Buffer.from(
    `{"event":${JSON.stringify(event)},"payload":${payload},"deliveryId":"${deliveryId}"}`,
  )
}

/** The headers that describe a delivery, as a flat list of names and values. */
export function describingHeaders(message: Message, names: HeaderNames): string[] {
  const headers = [
    names.deliveryId,
    message.deliveryId,
    names.event,
    message.event,
    names.attempt,
    String(message.attempt),
  ]
  if (message.tenant) headers.push(names.tenant, message.tenant)
  if (message.isTest === true) headers.push(names.test, 'true')
  return headers
}

/** The headers that sign a delivery, likewise. */
export function signingHeaders(
  message: Message,
  signing: Signing,
  timestamp: number,
  names: HeaderNames,
): string[] {
  const { secret, previousSecrets, standardWebhooks, ed25519 = [] } = signing
  const headers = [
    names.signature,
    ownSignature(secret, timestamp, message.body),
    names.timestamp,
    String(timestamp),
  ]
  const [previousSecret] = previousSecrets
  if (previousSecret !== undefined) {
    headers.push(names.signaturePrevious, ownSignature(previousSecret, timestamp, message.body))
  }
  // Receivers compare each of our signatures whole: only the header of Standard Webhooks lists several.
  if (standardWebhooks || ed25519.length > 0 || previousSecrets.length > 1) {
    headers.push(...standardHeaders(message, signing, timestamp))
  }
  return headers
}

function standardHeaders(
  { deliveryId, body }: Message,
  signing: Signing,
  timestamp: number,
): string[] {
  const { secret, previousSecrets, ed25519 = [] } = signing
  const signatures = [
    ...[secret, ...previousSecrets].map((one) =>
      standardSignature(one, deliveryId, timestamp, body),
    ),
    ...ed25519.map((key) => ed25519Signature(key, deliveryId, timestamp, body)),
  ]
  return [
    'webhook-id',
    deliveryId,
    'webhook-timestamp',
    String(timestamp),
    'webhook-signature',
    signatures.join(' '),
  ]
}

/** The default is for the events of the host: ours have a form of their own. `null` for our own body. */
export function transformNameOf(
  { transform }: WebhookForDelivery,
  { event }: Pick<Delivery, 'event'>,
  defaultTransform: string | null,
): string | null {
  const name = transform ?? (event.startsWith('svc.') ? null : defaultTransform)
  return name === NO_TRANSFORM ? null : name
}

/** The headers of a delivery, as a flat list of names and values, without those of every request. */
export function headersOf(
  { standardWebhooks, signingKeys, headerNames, propagateTraceContext }: RequestSettings,
  webhook: WebhookForDelivery,
  delivery: Omit<Delivery, 'payload'>,
  request: DeliveryRequest,
  attemptedAt: Date,
): string[] {
  const { body, headers: ownHeaders, signature = [], hasOwnSignatures = true } = request
  const { event, deliveryId, attempt, isTest, traceContext = null } = delivery
  const { secret, previousSecrets } = webhook
  const tenant = webhook.isOperators ? delivery.tenant : null
  const message = { event, deliveryId, attempt, isTest, tenant, body }
  const headers = describingHeaders(message, headerNames)
  if (hasOwnSignatures) {
    const { timestamp = Math.floor(attemptedAt.getTime() / 1000) } = request
    const ed25519 = signingKeys?.of(webhook.id) ?? []
    const signing = { secret, previousSecrets, standardWebhooks, ed25519 }
    headers.push(...signingHeaders(message, signing, timestamp, headerNames))
  }
  headers.push(...ownHeaders)
  if (propagateTraceContext && traceContext !== null) {
    headers.push(...traceHeaders(traceContext, ownHeaders))
  }
  headers.push(...signature)
  return headers
}

/**
 * The headers of W3C that pass the trace on to the receiver, as a flat list of names and values. A header
 * that the webhook has set itself stays as it is.
 */
function traceHeaders(traceContext: string, ownHeaders: string[]): string[] {
  const own = new Set(ownHeaders.map((header) => header.toLowerCase()))
  if (own.has('traceparent')) return []
  const { traceparent, tracestate } = traceHeadersOf(traceContext)
  const parent = ['traceparent', traceparent]
  return tracestate === undefined || own.has('tracestate')
    ? parent
    : [...parent, 'tracestate', tracestate]
}
