/** Derives the outcome of an attempt from the result of its request. */
import type { Failure, PostResult } from '../http/post-result.ts'

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
