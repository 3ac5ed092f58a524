import { storableText, traceHeadersOf } from '@svc/core/internal'
import type { HealthWatch } from '../health/health-watch.ts'
import { isLifecycleEvent } from '../lifecycle-events.ts'
import type { Connected } from '../http/guarded-agent.ts'
import type { PostResult, ResponseHeaders } from '../http/post-result.ts'
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import { KEPT_BYTES, type Post } from '../http/post.ts'
import { onlyFields } from '../settings/fields.ts'
import type { HeaderNames } from '../settings/header-names.ts'
import { NO_TRANSFORM, type AnyTransform } from '../transforms/transform.ts'
import { failedUnsent, skippedAttempt, unsent, type AttemptRecord } from './attempt-record.ts'
import { maskedAnswer, SHORTEST_SECRET } from './echoed-secrets.ts'
import type { SigningKeys } from './ed25519.ts'
import {
  errorOf,
  outcomeOfAnswer,
  type AnswerOutcome,
  type OutcomeRules,
} from './outcome-of-answer.ts'
import { plainRequest, transformedRequest, type DeliveryRequest } from './request.ts'
import { describingHeaders, signingHeaders } from './sign.ts'

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

export interface AttemptSettings extends OutcomeRules, RequestSettings {
  deliveryTimeoutMs: number
  deliveryLogRetentionDays: number
  transforms: ReadonlyMap<string, AnyTransform>
  /** The transform of webhooks that name none; `null` for our own body. */
  defaultTransform: string | null
  /** Secrets of the host that no answer may repeat. @default none */
  ownSecrets?: readonly string[]
  health: Pick<HealthWatch, 'attempted' | 'works'>
  log: { warn(details: object, message: string): void }
}

/** What follows an attempt; a webhook's transform adds a step to those of an answer. */
export type AttemptStep =
  | AnswerOutcome<AttemptRecord>
  /** The transform gave `null`. */
  | { kind: 'cancelled'; detail: AttemptRecord }

/** Makes the request of a delivery, signs it and sends it to its webhook. */
export async function makeAttempt(
  post: Post,
  settings: AttemptSettings,
  webhook: WebhookForDelivery,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptStep> {
  const name = transformNameOf(webhook, delivery, settings.defaultTransform)
  const { prefix } = settings.headerNames
  const { fields } = webhook
  const payload = fields === null ? delivery.payload : onlyFields(delivery.payload, fields)
  if (name === null) {
    const request = plainRequest(webhook, { ...delivery, payload }, prefix)
    return send(post, settings, webhook, delivery, request, signal)
  }
  const transform = settings.transforms.get(name)
  if (transform === undefined) {
    settings.log.warn(
      { webhookId: webhook.id, transform: name },
      'this host lacks the transform of a webhook; its deliveries wait for a host that has it',
    )
    const detail = failedUnsent(delivery.attempt, 'transform')
    return { kind: 'unsent', detail, isLacking: true }
  }
  const startedAt = new Date()
  const startedMs = performance.now()
  const { deliveryTimeoutMs } = settings
  const limitMs = Math.min(webhook.timeoutMs ?? deliveryTimeoutMs, deliveryTimeoutMs)
  let request: DeliveryRequest | null
  try {
    const own = { headerPrefix: prefix, startedAt, limitMs, signal }
    request = await transformedRequest(transform, webhook, { ...delivery, payload }, own)
  } catch (error) {
    if (signal.aborted) throw error
    const { deliveryId, attempt } = delivery
    const details = { webhookId: webhook.id, transform: name, deliveryId, attempt }
    logFailure(settings.log, error, details)
    const record: AttemptRecord = { ...unsent(attempt, startedAt), error: 'transform' }
    return { kind: 'failed', detail: record, output: record }
  }
  if (request === null) return { kind: 'cancelled', detail: skippedAttempt(delivery.attempt) }
  // The limit is that of the whole attempt.
  const leftMs = Math.ceil(limitMs - (performance.now() - startedMs))
  const limited = { ...webhook, timeoutMs: Math.max(1, leftMs) }
  const isLate = leftMs < limitMs / 2
  return send(post, settings, limited, { ...delivery, isLate }, request, signal)
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

/** Anything can be thrown, also what the serializer of a log cannot read: the attempt has failed all the same. */
function logFailure(log: AttemptSettings['log'], thrown: unknown, details: object): void {
  const message = 'the transform of a webhook failed; the attempt counts as failed'
  try {
    log.warn({ ...details, err: asError(thrown) }, message)
  } catch {
    const err = new Error('the transform threw what no log can read')
    log.warn({ ...details, err }, message)
  }
}

const asError = (thrown: unknown): unknown =>
  typeof thrown === 'object' && thrown !== null
    ? thrown
    : new Error(`the transform threw ${String(thrown)}, which is no error`)

async function send(
  post: Post,
  settings: AttemptSettings,
  webhook: WebhookForDelivery,
  delivery: Delivery,
  request: DeliveryRequest,
  signal: AbortSignal,
): Promise<AnswerOutcome<AttemptRecord>> {
  const { body, contentType, secrets, signature = [] } = request
  const { attempt } = delivery
  const attemptedAt = new Date()
  const startedMs = performance.now()
  const headers = headersOf(settings, webhook, delivery, request, attemptedAt)
  const isReplacing = signature.length > 0
  const options = { contentType, isReplacing, timeoutMs: webhook.timeoutMs ?? undefined }
  const result = await post.send(new URL(webhook.url), headers, body, signal, options)
  const isEvidence = countsForHealth(result, delivery)
  if (isEvidence) settings.health.attempted(webhook.id, errorOf(result) === null)
  if (delivery.isProbe === true && errorOf(result) === null) settings.health.works(webhook)
  const mask = (text: string, isCut: boolean): string =>
    maskedAnswer(
      text,
      [webhook.secret, ...webhook.previousSecrets, ...secrets, ...(settings.ownSecrets ?? [])],
      isCut,
    )
  const record: AttemptRecord = {
    attempt,
    statusCode: result.statusCode,
    error: errorOf(result),
    durationMs: Math.round(performance.now() - startedMs),
    responseBody: keptAnswer(result, mask),
    attemptedAt: attemptedAt.toISOString(),
    ...keptOfExchange(result, mask),
    ...(isEvidence && { testedUrl: webhook.url }),
  }
  return outcomeOfAnswer(result, record, settings, new Date())
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

/** An answer that is cut off, or broken off, may end inside of a secret. */
const CUT_BYTES = KEPT_BYTES - 4

type Mask = (text: string, isCut: boolean) => string

/** What is kept of the answer. It may repeat what it was sent, or what the receiver knows. */
function keptAnswer({ responseBody, failure }: PostResult, mask: Mask): string | null {
  if (responseBody === null || responseBody.length < SHORTEST_SECRET) return responseBody
  return mask(responseBody, failure !== null || Buffer.byteLength(responseBody) >= CUT_BYTES)
}

const MOST_MS = 32_767
/** Names of headers whose values let in whoever has them. */
const SENSITIVE = /auth|cookie|csrf|key|password|secret|session|token/

/** What else is kept of an attempt. One that succeeds on a kept connection, as most do, adds nothing. */
function keptOfExchange(
  result: PostResult,
  mask: Mask,
): Pick<AttemptRecord, 'phases' | 'address' | 'responseHeaders'> {
  const { connected, firstByteMs, bodyMs, responseHeaders } = result
  const isFailed = errorOf(result) !== null
  if (connected === undefined && !isFailed) return {}
  const { dnsMs, connectMs, tlsMs, address } = connected ?? UNKNOWN
  const phases = [dnsMs, connectMs, tlsMs, firstByteMs, bodyMs].map((ms) =>
    typeof ms === 'number' ? Math.min(MOST_MS, Math.round(ms)) : null,
  )
  return {
    ...(phases.some((ms) => ms !== null) && { phases }),
    // Without the zone of a link-local address, which is a name of this machine.
    ...(address !== null && { address: address.replace(/%.*/, '') }),
    ...(isFailed && responseHeaders && { responseHeaders: keptHeaders(responseHeaders, mask) }),
  }
}

const UNKNOWN: Connected = { dnsMs: null, connectMs: null, tlsMs: null, address: null }

function keptHeaders(headers: ResponseHeaders, mask: Mask): string {
  const text = Object.entries(headers)
    .filter(([name]) => !SENSITIVE.test(name))
    .map(([name, value]) => `${name}: ${[value].flat().join(', ')}`)
    .join('\n')
  return mask(storableText(text, KEPT_BYTES), text.length > KEPT_BYTES)
}

/**
 * Whether the result counts for the health of the receiver. A failure of this host does not count.
 * A failed lifecycle event does not either: it would lead to another lifecycle event.
 */
function countsForHealth(result: PostResult, delivery: Delivery): boolean {
  const { event, isAtOtherUrl, isLate } = delivery
  if (isAtOtherUrl === true) return false
  const error = errorOf(result)
  if (error === null) return true
  const isOurFault = result.isOurFault === true || (isLate === true && error === 'timeout')
  return !isOurFault && !isLifecycleEvent(event)
}
