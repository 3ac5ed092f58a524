import { channel } from 'node:diagnostics_channel'

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
