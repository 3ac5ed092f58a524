/**
 * The only module that loads OpenTelemetry: its API, where the host has installed it. The tracer
 * and the meter are those of the SDK that the host has registered. Without the API or an SDK both
 * are `null`, and nothing is measured.
 */
import { createRequire } from 'node:module'
import type * as Api from '@opentelemetry/api'
import { VERSION } from '../package-folder.ts'
import type { Meter, Span, SpanStart, Tracer } from './instruments.ts'
import { spanIdsOf, traceContextOf } from './trace-context.ts'

export interface OpenTelemetry {
  tracer: Tracer | null
  meter: Meter | null
}

const SCOPE = '@svc/core'
/** What the SDK's `suppressTracing` sets. */
const SUPPRESSED = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING'

/** Called once, at boot. An SDK that the host registers later is not used. */
export async function openTelemetry(): Promise<OpenTelemetry> {
  const api = await installedApi()
  return api === null
    ? { tracer: null, meter: null }
    : { tracer: tracerOf(api), meter: meterOf(api) }
}

async function installedApi(): Promise<typeof Api | null> {
  try {
    return await import('@opentelemetry/api')
  } catch (error) {
    // The error of a package that is missing has no code under some loader hooks, those of tap for one.
    if ((error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND' || !isInstalled()) return null
    throw error
  }
}

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('@opentelemetry/api')
    return true
  } catch {
    return false
  }
}

function tracerOf(api: typeof Api): Tracer | null {
  const provider: Api.TracerProvider & {
    getDelegateTracer?: (name: string, version: string) => Api.Tracer | undefined
  } = api.trace.getTracerProvider()
  // Without an SDK the API's provider is a proxy, and has no tracer of its own.
  const tracer = provider.getDelegateTracer
    ? provider.getDelegateTracer(SCOPE, VERSION)
    : provider.getTracer(SCOPE, VERSION)
  if (!tracer) return null
  const { context, propagation, ROOT_CONTEXT, trace } = api
  const suppressed = api.createContextKey(SUPPRESSED)
  const within = (traceContext: string | null) => {
    const spanContext = traceContext === null ? null : spanContextOf(api, traceContext)
    return spanContext ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT
  }
  const contextOf = (span: Api.Span | undefined) => {
    const spanContext = span?.spanContext()
    return spanContext && api.isSpanContextValid(spanContext)
      ? traceContextOf({ ...spanContext, traceState: spanContext.traceState?.serialize() })
      : null
  }
  return {
    start({ name, kind, attributes, parent, links = [], startedAt }) {
      const around = parent === undefined ? context.active() : within(parent)
      const linked = [...new Set(links)].flatMap((link) => {
        const spanContext = link ? spanContextOf(api, link) : null
        return spanContext ? [{ context: spanContext }] : []
      })
      const options = { kind: kindOf(api, kind), attributes, links: linked }
      const span = tracer.startSpan(
        name,
        startedAt === undefined ? options : { ...options, startTime: startedAt },
        around,
      )
      return wrapped(api, span, trace.setSpan(around, span), contextOf(span) ?? '')
    },
    suppressed: (run) => context.with(context.active().setValue(suppressed, true), run),
    active: () => contextOf(trace.getActiveSpan()),
    contextIn: (headers) => contextOf(trace.getSpan(propagation.extract(ROOT_CONTEXT, headers))),
  }
}

function wrapped(api: typeof Api, span: Api.Span, around: Api.Context, traceContext: string): Span {
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

function spanContextOf(api: typeof Api, traceContext: string): Api.SpanContext | null {
  const ids = spanIdsOf(traceContext)
  if (ids === null) return null
  const { traceState, ...others } = ids
  const spanContext = { ...others, isRemote: true }
  return traceState === undefined
    ? spanContext
    : { ...spanContext, traceState: api.createTraceState(traceState) }
}

function kindOf(api: typeof Api, kind: SpanStart['kind']): Api.SpanKind {
  const { CLIENT, CONSUMER, PRODUCER, SERVER } = api.SpanKind
  return { client: CLIENT, consumer: CONSUMER, producer: PRODUCER, server: SERVER }[kind]
}

function meterOf(api: typeof Api): Meter | null {
  const meter = api.metrics.getMeterProvider().getMeter(SCOPE, VERSION)
  if (meter === api.createNoopMeter()) return null
  return {
    counter: (name, options) => meter.createCounter(name, options),
    histogram: (name, { boundaries, ...options }) =>
      meter.createHistogram(name, {
        ...options,
        advice: { explicitBucketBoundaries: boundaries },
      }),
    gauges(definitions, observe) {
      const gauges = definitions.map(({ name, ...options }) =>
        meter.createObservableGauge(name, options),
      )
      const callback: Api.BatchObservableCallback = async (result) => {
        for (const [index, observations] of (await observe()).entries()) {
          for (const observation of observations) {
            result.observe(gauges[index] as Api.ObservableGauge, ...observation)
          }
        }
      }
      meter.addBatchObservableCallback(callback, gauges)
      return () => meter.removeBatchObservableCallback(callback, gauges)
    },
  }
}
