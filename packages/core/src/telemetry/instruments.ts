/** What our code uses of OpenTelemetry, in the terms of our code. */
import type { Attributes } from '@opentelemetry/api'

export type {
  Attributes,
  BatchObservableCallback,
  Counter,
  Histogram,
  Meter,
} from '@opentelemetry/api'

export interface SpanStart {
  name: string
  kind: 'producer' | 'client' | 'consumer' | 'server'
  attributes: Attributes
  /**
   * The trace context of the parent, `null` for none.
   * @default the span that is active
   */
  parent?: string | null
  /** Trace contexts that it is linked to, where there are any. */
  links?: (string | null | undefined)[]
  /** Milliseconds since 1970. @default now */
  startedAt?: number
}

export interface Span {
  /** Its trace context. */
  readonly context: string
  /** Runs `run` with this span as the active one. */
  run<T>(run: () => T): T
  set(attributes: Attributes): void
  /** Ends it, with an error where what it measured has failed. */
  end(error?: SpanError | null): void
}

export interface SpanError {
  /** A class of errors, of few: `error.type`. */
  type: string
  message?: string | undefined
  /** The error that was thrown. */
  thrown?: unknown
}

/** The tracer of an SDK that the host has registered. */
export interface Tracer {
  start(span: SpanStart): Span
  /** Runs `run` so that other instrumentations make no spans of it, and send no trace context. */
  suppressed<T>(run: () => T): T
  /** The trace context of the active span; `null` where there is none. */
  active(): string | null
  /** The trace context that a request brings, as the host's propagator reads it. */
  contextIn(headers: Record<string, unknown>): string | null
}
