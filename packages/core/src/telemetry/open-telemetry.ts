/**
 * The only module that calls OpenTelemetry's API. The tracer and the meter are those of the SDK that the
 * host has registered. Without an SDK both are `null`, and nothing is measured.
 */
import * as api from '@opentelemetry/api'
import { VERSION } from '../package-folder.ts'
import type { Span, SpanStart, Tracer } from './instruments.ts'
import { spanIdsOf, traceContextOf } from './trace-context.ts'

export interface OpenTelemetry {
  tracer: Tracer | null
  meter: api.Meter | null
}

const SCOPE = '@svc/core'
/** What the SDK's `suppressTracing` sets. */
const SUPPRESSED = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING'

/** Called once, at boot. An SDK that the host registers later is not used. */
export const openTelemetry = (): OpenTelemetry => ({ tracer: tracerOf(), meter: meterOf() })

function tracerOf(): Tracer | null {
  const provider: api.TracerProvider & {
    getDelegateTracer?: (name: string, version: string) => api.Tracer | undefined
  } = api.trace.getTracerProvider()
  // Without an SDK the API's provider is a proxy, and has no tracer of its own.
  const tracer = provider.getDelegateTracer
    ? provider.getDelegateTracer(SCOPE, VERSION)
    : provider.getTracer(SCOPE, VERSION)
  if (!tracer) return null
  const { context, propagation, ROOT_CONTEXT, trace } = api
  const suppressed = api.createContextKey(SUPPRESSED)
  const within = (traceContext: string | null) => {
    const spanContext = traceContext === null ? null : spanContextOf(traceContext)
    return spanContext ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT
  }
  const contextOf = (span: api.Span | undefined) => {
    const spanContext = span?.spanContext()
    return spanContext && api.isSpanContextValid(spanContext)
      ? traceContextOf({ ...spanContext, traceState: spanContext.traceState?.serialize() })
      : null
  }
  return {
    start({ name, kind, attributes, parent, links = [], startedAt }) {
      const around = parent === undefined ? context.active() : within(parent)
      const linked = [...new Set(links)].flatMap((link) => {
        const spanContext = link ? spanContextOf(link) : null
        return spanContext ? [{ context: spanContext }] : []
      })
      const options = { kind: kindOf(kind), attributes, links: linked }
      const span = tracer.startSpan(
        name,
        startedAt === undefined ? options : { ...options, startTime: startedAt },
        around,
      )
      return wrapped(span, trace.setSpan(around, span), contextOf(span) ?? '')
    },
    suppressed: (run) => context.with(context.active().setValue(suppressed, true), run),
    active: () => contextOf(trace.getActiveSpan()),
    contextIn: (headers) => contextOf(trace.getSpan(propagation.extract(ROOT_CONTEXT, headers))),
  }
}

function wrapped(span: api.Span, around: api.Context, traceContext: string): Span {
  return {
    context: traceContext,
    run: (run) => api.context.with(around, run),
    set: (attributes) => void span.setAttributes(attributes),
    end(error) {
      if (error) {
        const { type, message, thrown } = error
        span.setAttribute('error.type', type)
        if (thrown instanceof Error) span.recordException(thrown)
        const status = { code: api.SpanStatusCode.ERROR }
        span.setStatus(message === undefined ? status : { ...status, message })
      }
      span.end()
    },
  }
}

function spanContextOf(traceContext: string): api.SpanContext | null {
  const ids = spanIdsOf(traceContext)
  if (ids === null) return null
  const { traceState, ...others } = ids
  const spanContext = { ...others, isRemote: true }
  return traceState === undefined
    ? spanContext
    : { ...spanContext, traceState: api.createTraceState(traceState) }
}

function kindOf(kind: SpanStart['kind']): api.SpanKind {
  const { CLIENT, CONSUMER, PRODUCER, SERVER } = api.SpanKind
  return { client: CLIENT, consumer: CONSUMER, producer: PRODUCER, server: SERVER }[kind]
}

function meterOf(): api.Meter | null {
  const meter = api.metrics.getMeterProvider().getMeter(SCOPE, VERSION)
  return meter === api.createNoopMeter() ? null : meter
}
