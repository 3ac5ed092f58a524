import { channel } from 'node:diagnostics_channel'

/** What became of a request to an inbound path. */
export interface InboundOutcome {
  source: string
  /**
   * `accepted`: published. `duplicate`: a repeat. `answered`: a handshake. `refused`: not verified.
   * `malformed`: could not be read. `failed`: a 5xx, the sender should try again.
   */
  outcome: 'accepted' | 'duplicate' | 'answered' | 'refused' | 'malformed' | 'failed'
}

/**
 * One message for each request, on the diagnostics channel `svc.webhooks.inbound`: what counts them,
 * be it Prometheus or OpenTelemetry, is the host's choice, and costs nothing where there is none.
 */
const outcomes = channel('svc.webhooks.inbound')

export function tellOutcome(source: string, outcome: InboundOutcome['outcome']): void {
  outcomes.publish({ source, outcome } satisfies InboundOutcome)
}
