import { storableText } from '@svc/core/internal'
import type { HealthWatch } from '../health/health-watch.ts'
import { isLifecycleEvent } from '../lifecycle-events.ts'
import type { Connected } from '../http/guarded-agent.ts'
import type { PostResult, ResponseHeaders, Failure } from '../http/post-result.ts'
import type { WebhookForDelivery } from '../../tables/webhooks-for-delivery.ts'
import { KEPT_BYTES, type Post } from '../http/post.ts'
import { onlyFields } from '../settings/fields.ts'
import type { AnyTransform } from '../transforms/transform.ts'
import { unsent, type AttemptRecord } from './record-deliveries.ts'
import { maskedAnswer, SHORTEST_SECRET } from './echoed-secrets.ts'
import {
  plainRequest,
  transformedRequest,
  headersOf,
  transformNameOf,
  type Delivery,
  type DeliveryRequest,
  type RequestSettings,
} from './request.ts'

export interface AttemptSettings extends OutcomeRules, RequestSettings {
  deliveryTimeoutMs: number
  deliveryLogRetentionDays: number
  transforms: ReadonlyMap<string, AnyTransform>
  /** The transform of webhooks that name none; `null` for our own body. */
  defaultTransform: string | null
  /** Secrets of the host that no answer may repeat. @default none */
  ownSecrets?: readonly string[]
  health: Pick<HealthWatch, 'attempted' | 'failed' | 'works'>
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
    const detail = unsent(delivery.attempt, 'transform')
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
    const record = unsent(attempt, 'transform', startedAt)
    return { kind: 'failed', detail: record, output: record }
  }
  if (request === null) return { kind: 'cancelled', detail: unsent(delivery.attempt) }
  // The limit is that of the whole attempt.
  const leftMs = Math.ceil(limitMs - (performance.now() - startedMs))
  const limited = { ...webhook, timeoutMs: Math.max(1, leftMs) }
  const isLate = leftMs < limitMs / 2
  return send(post, settings, limited, { ...delivery, isLate }, request, signal)
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
  if (isEvidence) settings.health.attempted()
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

// Derives the outcome of an attempt from the result of its request.

export interface OutcomeRules {
  /** The longest wait that a receiver can set with `Retry-After`. */
  retryDelayMaxSeconds: number
  /** Whether a 410 deactivates the webhook and ends the delivery. */
  deactivateOnGone: boolean
}

/** An outcome of core's workers, with the record of the attempt. */
export type AnswerOutcome<Record extends object> =
  | { kind: 'completed'; detail: Record }
  | { kind: 'failed'; detail: Record; output: Record; retryAfterMs?: number }
  /** The receiver answered 410 Gone. */
  | { kind: 'rejected'; detail: Record; output: Record }
  /**
   * The proxy of this host failed: nothing has reached the receiver, and no attempt is used up.
   * `isLacking`: nothing was tried, since this host lacks what another one may have.
   */
  | { kind: 'unsent'; detail: Record; isLacking?: true }

/** Why an attempt failed; `null` where it was a delivery. */
export function errorOf({ statusCode, failure }: PostResult): Failure | null {
  if (failure !== null) return failure
  if (statusCode === null) return 'http'
  if (statusCode >= 200 && statusCode < 300) return null
  return statusCode >= 300 && statusCode < 400 ? 'redirect' : 'http'
}

export function outcomeOfAnswer<Record extends object>(
  result: PostResult,
  record: Record,
  rules: OutcomeRules,
  now: Date,
): AnswerOutcome<Record> {
  if (errorOf(result) === null) return { kind: 'completed', detail: record }
  const { statusCode, failure, retryAfter } = result
  if (failure === 'proxy') return { kind: 'unsent', detail: record }
  // The status of an exchange that broke is not reliable.
  if (failure === null && statusCode === 410 && rules.deactivateOnGone) {
    return { kind: 'rejected', detail: record, output: record }
  }
  const mayAskToWait = failure === null && (statusCode === 429 || statusCode === 503)
  const waitMs = mayAskToWait && retryAfter !== null ? waitMsOf(retryAfter, now) : 0
  if (waitMs <= 0) return { kind: 'failed', detail: record, output: record }
  const retryAfterMs = Math.min(waitMs, rules.retryDelayMaxSeconds * 1000)
  return { kind: 'failed', detail: record, output: record, retryAfterMs }
}

/** `Retry-After` (RFC 9110, section 10.2.3): whole seconds, or an HTTP date; 0 for anything else. */
function waitMsOf(value: string, now: Date): number {
  const text = value.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1000
  if (!HTTP_DATE.test(text)) return 0
  // The asctime format has no zone: it is UTC, as the others.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? 0 : at - now.getTime()
}

/** RFC 9110, section 5.6.7: IMF-fixdate, and the obsolete forms of RFC 850 and of asctime. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/
