/** What came of inbound requests, for whoever watches: spans, metrics, a diagnostics channel. */
import { channel } from 'node:diagnostics_channel'
import type { Core, Counter, Histogram, Tracer } from '@svc/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Received } from './receive.ts'

/** The message of the diagnostics channel `svc.webhooks.inbound`: one for each inbound request. */
export interface InboundOutcome {
  source: string
  /**
   * `accepted`: published. `duplicate`: a repeat. `answered`: a handshake. `refused`: not verified, or
   * a GET without a handshake. `malformed`: could not be read. `failed`: a 5xx, the sender should try
   * again.
   */
  outcome: 'accepted' | 'duplicate' | 'answered' | 'refused' | 'malformed' | 'failed'
}

/** A message without a subscriber costs nothing: the host chooses what counts the messages. */
const outcomes = channel('svc.webhooks.inbound')

export function publishOutcome(source: string, outcome: InboundOutcome['outcome']): void {
  outcomes.publish({ source, outcome } satisfies InboundOutcome)
}

/** The outcome of an error, by its status. */
export function outcomeOf(statusCode: number): InboundOutcome['outcome'] {
  if (statusCode >= 500) return 'failed'
  return statusCode === 401 || statusCode === 404 ? 'refused' : 'malformed'
}

/** Bounds of the semantic conventions for HTTP, in seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

export class InboundTelemetry {
  #tracer: Tracer | null
  #requests: Counter | undefined
  #duration: Histogram | undefined

  constructor({ tracer, meter }: Pick<Core['telemetry'], 'tracer' | 'meter'>) {
    this.#tracer = tracer
    this.#requests = meter?.createCounter('svc.inbound.requests', {
      unit: '{request}',
      description: 'Inbound requests, by what came of them.',
    })
    this.#duration = meter?.createHistogram('svc.inbound.duration', {
      unit: 's',
      description: 'How long inbound requests took, from their first byte to the answer.',
      advice: { explicitBucketBoundaries: SECONDS },
    })
  }

  count(source: string, outcome: InboundOutcome['outcome'], reply: FastifyReply): void {
    const labels = { 'svc.source': source, 'svc.outcome': outcome }
    this.#requests?.add(1, labels)
    this.#duration?.record(reply.elapsedTime / 1000, labels)
  }

  /** Runs within the active span, else within the trace that the request brings. */
  async trace(
    source: { name: string; path: string },
    request: FastifyRequest,
    reply: FastifyReply,
    receive: () => Promise<Received>,
  ): Promise<Received> {
    const tracer = this.#tracer
    if (tracer === null) return receive()
    const span = tracer.start({
      name: `receive ${source.name}`,
      kind: 'server',
      attributes: {
        'http.request.method': request.method,
        'http.route': source.path,
        'svc.source': source.name,
      },
      ...(tracer.active() === null ? { parent: tracer.contextIn(request.headers) } : {}),
      startedAt: Date.now() - reply.elapsedTime,
    })
    try {
      const received = await span.run(receive)
      const id = received.outcome === 'accepted' ? received.eventId : null
      span.set({ 'svc.outcome': received.outcome, ...(id ? { 'messaging.message.id': id } : {}) })
      span.end()
      return received
    } catch (error) {
      const { statusCode = 500, code = '_OTHER' } = error as { statusCode?: number; code?: string }
      const outcome = outcomeOf(statusCode)
      span.set({ 'svc.outcome': outcome, 'http.response.status_code': statusCode })
      // A request that is refused is no error of this host, as the conventions for HTTP servers have it.
      span.end(outcome === 'failed' ? { type: code } : null)
      throw error
    }
  }
}
