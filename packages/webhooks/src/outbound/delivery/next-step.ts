/** Why an attempt failed. `http` is an answer that is neither 2xx nor a redirect, or no HTTP at all. */
export type Failure =
  | 'dns'
  | 'refused'
  | 'reset'
  | 'timeout'
  | 'tls'
  | 'blocked'
  | 'redirect'
  | 'too-large'
  | 'http'

/** What came of one request. */
export interface Answer {
  /** Null where no answer began. */
  statusCode: number | null
  /** What broke the exchange; null where an answer came whole, or was cut off at the limit. */
  failure: Failure | null
  retryAfter: string | null
  /** The first KiB, as text. */
  responseBody: string | null
}

export interface Rules {
  retryDelayMaxSeconds: number
  deactivateOnGone: boolean
}

export type NextStep =
  | { kind: 'delivered' }
  | { kind: 'failed'; error: Failure; retryAfterMs?: number }
  /** The receiver said that it is gone for good. */
  | { kind: 'gone'; error: Failure }

/** What follows from an answer. */
export function nextStep(
  { statusCode, failure, retryAfter }: Answer,
  rules: Rules,
  now: Date,
): NextStep {
  if (failure !== null) return { kind: 'failed', error: failure }
  if (statusCode === null) return { kind: 'failed', error: 'http' }
  if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered' }
  if (statusCode >= 300 && statusCode < 400) return { kind: 'failed', error: 'redirect' }
  if (statusCode === 410 && rules.deactivateOnGone) return { kind: 'gone', error: 'http' }
  const asksToWait = statusCode === 429 || statusCode === 503
  const waitMs = asksToWait && retryAfter !== null ? waitMsOf(retryAfter, now) : 0
  if (waitMs <= 0) return { kind: 'failed', error: 'http' }
  const retryAfterMs = Math.min(waitMs, rules.retryDelayMaxSeconds * 1000)
  return { kind: 'failed', error: 'http', retryAfterMs }
}

/** `Retry-After` of RFC 9110, section 10.2.3: whole seconds, or an HTTP date. Anything else asks for nothing. */
function waitMsOf(value: string, now: Date): number {
  const text = value.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1000
  if (!HTTP_DATE.test(text)) return 0
  // The oldest of the three forms names no zone, and is UTC like the others.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? 0 : at - now.getTime()
}

/** RFC 9110, section 5.6.7: IMF-fixdate, RFC 850's, and asctime's. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/
