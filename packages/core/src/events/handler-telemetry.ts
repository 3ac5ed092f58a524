/** The spans and metrics of the runs of a subscription's handler. */
import type { FanOutJob } from '../jobs/job.ts'
import type { WorkerTelemetry } from '../jobs/worker.ts'
import { errorTypeOf, SYSTEM } from '../telemetry/metrics.ts'
import { publishedEventId, tenantOfEvent } from './event-id.ts'

/** A run of the handler. */
export interface HandlerRun {
  tookMs: number
  /** What it threw. */
  error?: unknown
}

type Prepared = { traceContext: string | null } | undefined
type Described = WorkerTelemetry<FanOutJob, Prepared, HandlerRun>

export const handlerTelemetry = (subscription: string): Described => ({
  start({ data, attempt, createdAt }, event) {
    const { attemptsBefore = 0, attemptedIn } = data
    const tenant = tenantOfEvent(data.eventId)
    const madeIn = event?.traceContext ?? null
    return {
      spanName: `process ${subscription}`,
      kind: 'consumer',
      event: data.event,
      subscription,
      attributes: {
        'messaging.system': SYSTEM,
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': data.event,
        'messaging.destination.subscription.name': subscription,
        'messaging.message.id': publishedEventId(data.eventId),
        'svc.attempt': attemptsBefore + attempt,
        ...(tenant === null ? {} : { 'svc.tenant': tenant }),
      },
      madeIn,
      links: [attemptedIn],
      publishedAt: attemptsBefore + attempt === 1 ? createdAt : null,
    }
  },
  end(outcome) {
    const { tookMs = null, error } = ('detail' in outcome && outcome.detail) || {}
    if (outcome.kind !== 'failed') return { error: null, durationMs: tookMs }
    const message = (error as Error | undefined)?.message ?? String(error)
    return { error: { type: errorTypeOf(error), message, thrown: error }, durationMs: tookMs }
  },
})
