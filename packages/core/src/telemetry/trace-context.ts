/**
 * The trace context of W3C as one text, as it is stored with an event or in a job: `traceparent`, and
 * behind a space `tracestate` where there is one. Written here and not by the host's propagator, which
 * may be set to other headers.
 *
 * https://www.w3.org/TR/trace-context/
 */
export interface SpanIds {
  traceId: string
  spanId: string
  traceFlags: number
  /** The header `tracestate`. */
  traceState?: string | undefined
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

export function traceContextOf({ traceId, spanId, traceFlags, traceState }: SpanIds): string {
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  return traceState ? `${traceparent} ${traceState}` : traceparent
}

/** `null` for any other text: a trace that cannot be read is not worth a failed attempt. */
export function spanIdsOf(traceContext: string): SpanIds | null {
  const { traceparent, tracestate } = traceHeadersOf(traceContext)
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  return { traceId, spanId, traceFlags: parseInt(flags, 16), traceState: tracestate }
}

/** The headers that pass a trace context on. */
export function traceHeadersOf(traceContext: string): { traceparent: string; tracestate?: string } {
  const end = traceContext.indexOf(' ')
  if (end === -1) return { traceparent: traceContext }
  return { traceparent: traceContext.slice(0, end), tracestate: traceContext.slice(end + 1) }
}
