/** Spans and metrics of publishes. */
import type { Attributes, Counter, Histogram, Span, Tracer } from './instruments.ts'
import { errorTypeOf, LabelValues, SECONDS, SYSTEM } from './metrics.ts'
import type { OpenTelemetry } from './open-telemetry.ts'

interface ToPublish {
  name: string
  tenant: string | null
}

/** What became of one of them; `null` where it was published before under its key. */
type Result = { id: string; duplicate: boolean } | null

const OPERATION = {
  'messaging.system': SYSTEM,
  'messaging.operation.name': 'publish',
  'messaging.operation.type': 'send',
}

export class PublishTelemetry {
  /** Whether anything is measured. */
  readonly isOn: boolean
  #tracer: Tracer | null
  #sent: Counter | undefined
  #duration: Histogram | undefined
  #events = new LabelValues()

  constructor({ tracer, meter }: OpenTelemetry) {
    this.isOn = tracer !== null || meter !== null
    this.#tracer = tracer
    this.#sent = meter?.createCounter('messaging.client.sent.messages', {
      unit: '{message}',
      description: 'Events that were published, or could not be.',
    })
    this.#duration = meter?.createHistogram('messaging.client.operation.duration', {
      unit: 's',
      description:
        'How long a publish took, with its commit where it had a transaction of its own.',
      advice: { explicitBucketBoundaries: SECONDS },
    })
  }

  /**
   * Runs a publish of events that belong together. `publish` gets the trace context of each, which is
   * to be stored with it.
   */
  async measure<Results extends Result[]>(
    events: ToPublish[],
    publish: (traceContexts: (string | null)[]) => Promise<Results>,
  ): Promise<Results> {
    const startedAt = performance.now()
    const spans = events.map((event) => this.#start(event))
    try {
      const results = await publish(spans.map((span) => span?.context ?? null))
      for (const [index, span] of spans.entries()) finish(span, results[index] ?? null)
      this.#count(events, startedAt)
      return results
    } catch (error) {
      const type = errorTypeOf(error)
      for (const span of spans) span?.end({ type, message: (error as Error).message })
      this.#count(events, startedAt, { 'error.type': type })
      throw error
    }
  }

  #start({ name, tenant }: ToPublish): Span | undefined {
    return this.#tracer?.start({
      name: `publish ${name}`,
      kind: 'producer',
      attributes: {
        ...OPERATION,
        'messaging.destination.name': name,
        ...(tenant === null ? {} : { 'svc.tenant': tenant }),
      },
    })
  }

  #count(events: ToPublish[], startedAt: number, error: Attributes = {}): void {
    const seconds = (performance.now() - startedAt) / 1000
    for (const { name } of events) {
      const labels = {
        'messaging.system': SYSTEM,
        'messaging.operation.name': 'publish',
        'messaging.destination.name': this.#events.of(name),
        ...error,
      }
      this.#sent?.add(1, labels)
      this.#duration?.record(seconds, { ...labels, 'messaging.operation.type': 'send' })
    }
  }
}

function finish(span: Span | undefined, result: Result): void {
  span?.set(
    result === null
      ? { 'svc.duplicate': true }
      : { 'messaging.message.id': result.id, 'svc.duplicate': result.duplicate },
  )
  span?.end()
}
