/** Spans and metrics of the attempts of deliveries. */
import {
  publishedEventId,
  tenantOfEvent,
  type Outcome,
  type Tracer,
  type WorkerTelemetry,
} from '@svc/core/internal'
import type { AttemptStep } from './attempt.ts'
import type { AttemptRecord } from './record-deliveries.ts'
import { attemptNumberOf, type DeliveryData } from '../delivery-queue.ts'

interface Prepared {
  webhook: { url: string } | undefined
  traceContext: string | null
}

type Described = WorkerTelemetry<DeliveryData, Prepared, AttemptRecord>

export const deliveryTelemetry: Described = {
  start(job, { webhook, traceContext }) {
    const { data, createdAt } = job
    const { event, eventId, deliveryId, url, askedIn, attemptedIn } = data
    const attempt = attemptNumberOf(job)
    return {
      spanName: `deliver ${event}`,
      kind: 'client',
      event,
      attributes: {
        ...deliveryAttributes(
          { event, webhookId: data.recipient, deliveryId, attempt },
          url ?? webhook?.url,
        ),
        ...(eventId === null ? {} : eventAttributes(eventId)),
      },
      madeIn: askedIn ?? traceContext,
      links: [traceContext, attemptedIn],
      publishedAt: attempt === 1 ? createdAt : null,
    }
  },
  end: attemptEnd,
}

interface Named {
  event: string
  webhookId: string
  deliveryId: string
  attempt: number
}

function deliveryAttributes({ event, webhookId, deliveryId, attempt }: Named, url?: string) {
  return {
    'messaging.system': 'svc',
    'messaging.operation.name': 'deliver',
    'messaging.destination.name': event,
    'svc.webhook.id': webhookId,
    'svc.delivery.id': deliveryId,
    'svc.attempt': attempt,
    ...(url === undefined ? {} : requestAttributes(url, attempt)),
  }
}

/** Makes an attempt without a job, in a span of its own. `attempt` gets its trace context. */
export async function tracedAttempt<Step extends Outcome<AttemptRecord> | AttemptStep>(
  tracer: Tracer | null,
  named: Named,
  url: string,
  attempt: (traceContext: string | null) => Promise<Step>,
): Promise<Step> {
  if (tracer === null) return attempt(null)
  const attributes = deliveryAttributes(named, url)
  const span = tracer.start({ name: `deliver ${named.event}`, kind: 'client', attributes })
  const step = await span.run(() => attempt(span.context))
  const { error, statusCode } = attemptEnd(step)
  if (statusCode) span.set({ 'http.response.status_code': statusCode })
  span.end(error)
  return step
}

/** The attributes leave out the path of the URL: a path may be a secret, as those of Slack are. */
function requestAttributes(url: string, attempt: number) {
  const { protocol, hostname, port } = new URL(url)
  const scheme = protocol.slice(0, -1)
  return {
    'http.request.method': 'POST',
    'url.scheme': scheme,
    'server.address': hostname,
    'server.port': Number(port || (scheme === 'https' ? 443 : 80)),
    ...(attempt > 1 ? { 'http.request.resend_count': attempt - 1 } : {}),
  }
}

function eventAttributes(eventId: string) {
  const tenant = tenantOfEvent(eventId)
  return {
    'messaging.message.id': publishedEventId(eventId),
    ...(tenant === null ? {} : { 'svc.tenant': tenant }),
  }
}

/** The attributes of the result of an attempt; none for an attempt that was not made. */
function attemptEnd(outcome: Outcome<AttemptRecord> | AttemptStep): ReturnType<Described['end']> {
  const record = 'detail' in outcome ? outcome.detail : undefined
  if (record === undefined) return { error: null, durationMs: null }
  const { error, statusCode, durationMs } = record
  return {
    // The conventions for HTTP want the status as the type, where there is one.
    error: error && { type: error === 'http' && statusCode ? `${statusCode}` : error },
    statusCode,
    durationMs,
  }
}
