/** Spans and metrics of attempts: deliveries, and runs of handlers. */
import type { Attributes, Counter, Histogram, Span, SpanError, Tracer } from './instruments.ts'
import { LabelValues, SECONDS, SECONDS_TO_AN_HOUR, SYSTEM } from './metrics.ts'
import type { OpenTelemetry } from './open-telemetry.ts'

/** The attributes recorded when an attempt starts. */
export interface AttemptStart {
  queue: string
  /** `deliver order.created`, `process ship-orders` */
  spanName: string
  /** A request that is sent, or a handler that is run. */
  kind: 'client' | 'consumer'
  event: string
  /** The subscription, where a handler is run. */
  subscription?: string
  /** Attributes that only the span has. */
  attributes: Attributes
  /** The trace context of what made the job: the publish of its event, or a request for it. */
  madeIn: string | null
  /** Trace contexts that the span is linked to as well: the publish, and the attempt before. */
  links: (string | null | undefined)[]
  /** When the event was published; `null` where this is not its first attempt. */
  publishedAt: Date | null
}

/** The attributes recorded when it has ended. */
export interface AttemptEnd {
  /** `null` where there was no attempt: the job waits again, and none is used up. */
  outcome: 'completed' | 'failed' | 'dead' | 'cancelled' | null
  error: SpanError | null
  /** The status of the answer to a request. */
  statusCode?: number | null
  /** How long the request or the handler took. */
  durationMs: number | null
}

export interface MeasuredAttempt {
  /** Passed on with the request, and stored with the job; `null` where no spans are made. */
  readonly traceContext: string | null
  run<T>(run: () => T): T
  end(end: AttemptEnd): void
}

export class AttemptTelemetry {
  /** Whether anything is measured. */
  readonly isOn: boolean
  #tracer: Tracer | null
  #attempts: Counter | undefined
  #consumed: Counter | undefined
  #latency: Histogram | undefined
  #requestDuration: Histogram | undefined
  #processDuration: Histogram | undefined
  #events = new LabelValues()
  #errors = new LabelValues()

  constructor({ tracer, meter }: OpenTelemetry) {
    this.isOn = tracer !== null || meter !== null
    this.#tracer = tracer
    this.#attempts = meter?.createCounter('svc.queue.attempts', {
      unit: '{attempt}',
      description: 'Attempts that have ended, by what came of them.',
    })
    this.#consumed = meter?.createCounter('messaging.client.consumed.messages', {
      unit: '{message}',
      description: 'Events that were given to handlers of subscriptions.',
    })
    this.#latency = meter?.createHistogram('svc.queue.latency', {
      unit: 's',
      description: 'From the publish of an event to the begin of a first attempt.',
      advice: { explicitBucketBoundaries: SECONDS_TO_AN_HOUR },
    })
    this.#requestDuration = meter?.createHistogram('http.client.request.duration', {
      unit: 's',
      description: 'How long the requests of deliveries took.',
      advice: { explicitBucketBoundaries: SECONDS },
    })
    this.#processDuration = meter?.createHistogram('messaging.process.duration', {
      unit: 's',
      description: 'How long handlers of subscriptions ran.',
      advice: { explicitBucketBoundaries: SECONDS },
    })
  }

  begin(start: AttemptStart): MeasuredAttempt {
    const startedAt = Date.now()
    const span = this.#tracer?.start({
      name: start.spanName,
      kind: start.kind,
      attributes: start.attributes,
      parent: start.madeIn,
      links: [start.madeIn, ...start.links],
    })
    return {
      traceContext: span?.context ?? null,
      run: (run) => (span ? span.run(run) : run()),
      end: (end) => {
        endSpan(span, end)
        if (end.outcome !== null) this.#count(start, end, startedAt)
      },
    }
  }

  #count(start: AttemptStart, end: AttemptEnd, startedAt: number): void {
    const { queue, kind, subscription, publishedAt } = start
    const event = this.#events.of(start.event)
    const error = end.error ? { 'error.type': this.#errors.of(end.error.type) } : {}
    const about = { 'svc.queue.name': queue, 'messaging.destination.name': event }
    this.#attempts?.add(1, { ...about, 'svc.outcome': end.outcome ?? '', ...error })
    // The clocks of Postgres and of this process may differ.
    if (publishedAt) {
      this.#latency?.record(Math.max(0, startedAt - publishedAt.getTime()) / 1000, about)
    }
    if (end.durationMs === null) return
    const seconds = end.durationMs / 1000
    if (kind === 'client') {
      const answer = end.statusCode ? { 'http.response.status_code': end.statusCode } : {}
      this.#requestDuration?.record(seconds, { 'http.request.method': 'POST', ...answer, ...error })
      return
    }
    const operation = {
      'messaging.system': SYSTEM,
      'messaging.operation.name': 'process',
      'messaging.destination.name': event,
      'messaging.destination.subscription.name': subscription,
      ...error,
    }
    this.#consumed?.add(1, operation)
    this.#processDuration?.record(seconds, operation)
  }
}

function endSpan(span: Span | undefined, { outcome, error, statusCode }: AttemptEnd): void {
  span?.set({
    'svc.outcome': outcome ?? 'postponed',
    ...(statusCode ? { 'http.response.status_code': statusCode } : {}),
  })
  span?.end(error)
}
