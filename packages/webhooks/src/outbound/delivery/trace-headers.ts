/** The headers of W3C that pass a trace on to the receiver. */
import { traceHeadersOf } from '@svc/core/internal'

/**
 * A flat list of names and values. A header that the webhook has set itself stays as it is.
 *
 * @param ownHeaders those of the webhook, in the same form
 */
export function traceHeaders(traceContext: string, ownHeaders: string[]): string[] {
  const own = new Set(ownHeaders.map((header) => header.toLowerCase()))
  if (own.has('traceparent')) return []
  const { traceparent, tracestate } = traceHeadersOf(traceContext)
  const parent = ['traceparent', traceparent]
  return tracestate === undefined || own.has('tracestate')
    ? parent
    : [...parent, 'tracestate', tracestate]
}
