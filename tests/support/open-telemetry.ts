/**
 * The SDK of OpenTelemetry with exporters in memory. It is registered for the whole process: a test file
 * that measures imports this, and no other.
 */
import { context, metrics, propagation, trace, type Attributes } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { until } from './until.ts'

export interface Point {
  attributes: Attributes
  /** For a histogram: the number of its values. */
  value: number
}

export interface Measured {
  /** Spans that have ended, in that order. */
  spans: () => ReadableSpan[]
  /** Waits for `count` spans of a name, and returns them. */
  named: (name: string, count?: number) => Promise<ReadableSpan[]>
  /** Collects now. Returns the points of a metric; none where nothing was recorded. */
  points: (name: string) => Promise<Point[]>
  /** What Prometheus would scrape. */
  prometheus: () => Promise<string>
  /** The names and units of all metrics that were collected. */
  metrics: () => Promise<Map<string, string>>
}

export function registerSdk({ traces = true, meters = true } = {}): Measured {
  const spans = new InMemorySpanExporter()
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  // Collected when a test asks for it.
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  if (traces) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    propagation.disable()
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
    )
  }
  if (meters) metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))

  async function collectedNow() {
    exporter.reset()
    await reader.forceFlush()
    return exporter.getMetrics()[0]
  }
  const collected = async () =>
    (await collectedNow())?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
  return {
    spans: () => spans.getFinishedSpans(),
    named: (name, count = 1) =>
      until(
        () => spans.getFinishedSpans().filter((span) => span.name === name),
        (found) => found.length >= count,
      ),
    async points(name) {
      const metric = (await collected()).find(({ descriptor }) => descriptor.name === name)
      return (metric?.dataPoints ?? []).map(({ attributes, value }) => ({
        attributes,
        value: typeof value === 'number' ? value : value.count,
      }))
    },
    async prometheus() {
      const now = await collectedNow()
      return now ? new PrometheusSerializer().serialize(now) : ''
    },
    async metrics() {
      return new Map((await collected()).map(({ descriptor: { name, unit } }) => [name, unit]))
    },
  }
}
