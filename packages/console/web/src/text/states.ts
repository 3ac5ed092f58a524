/** The name and the colour of each state, and what each error means. */
import type {
  ApiKey,
  Attempt,
  DeliveryStatus,
  InboundOutcome,
  Webhook,
} from '../server/contract.ts'
import type { Tone } from '../ui/facts.tsx'

const STATUS: Record<DeliveryStatus, { tone: Tone; word: string }> = {
  delivered: { tone: 'ok', word: 'Delivered' },
  failed: { tone: 'warn', word: 'Failed' },
  dead: { tone: 'bad', word: 'Dead' },
  skipped: { tone: 'idle', word: 'Skipped' },
}
/** To choose one from: of attempts. */
export const STATUSES = Object.entries(STATUS).map(([value, { word }]) => ({ value, label: word }))
const RETRYING = { tone: 'busy', word: 'Retrying' } as const
/** Of deliveries: what an attempt that failed means for its delivery. */
export const DELIVERY_STATES = STATUSES.map(({ value, label }) => ({
  value,
  label: value === 'failed' ? RETRYING.word : label,
}))
/** Of a delivery, by its latest attempt. The test that probes a disabled webhook is not tried again. */
export const deliveryState = ({
  status,
  isTest,
  nextAttemptAt,
}: Pick<Attempt, 'status' | 'isTest' | 'nextAttemptAt'>): State =>
  status === 'failed' && !(isTest && nextAttemptAt === null) ? RETRYING : STATUS[status]
export const statusTone = (status: DeliveryStatus): Tone => STATUS[status].tone
export const statusWord = (status: DeliveryStatus): string => STATUS[status].word

const OUTCOME: Record<InboundOutcome, { tone: Tone; word: string }> = {
  accepted: { tone: 'ok', word: 'Accepted' },
  duplicate: { tone: 'idle', word: 'Duplicate' },
  refused: { tone: 'bad', word: 'Refused' },
  failed: { tone: 'warn', word: 'Failed' },
}
/** To choose one from. */
export const OUTCOMES = Object.entries(OUTCOME).map(([value, { word }]) => ({ value, label: word }))
export const outcomeOf = (outcome: InboundOutcome) => OUTCOME[outcome]

export interface State {
  tone: Tone
  word: string
}

export function webhookState({ active, disabledReason, failingSince }: Webhook): State {
  if (!active && disabledReason) return { tone: 'bad', word: 'Disabled' }
  if (!active) return { tone: 'idle', word: 'Paused' }
  return failingSince ? { tone: 'warn', word: 'Failing' } : { tone: 'ok', word: 'Active' }
}

export function keyState(
  { revokedAt, expiresAt, enabled, replacedBy }: ApiKey,
  now = Date.now(),
): State {
  if (revokedAt) return { tone: 'idle', word: 'Revoked' }
  if (expiresAt && new Date(expiresAt).getTime() <= now) return { tone: 'idle', word: 'Expired' }
  if (enabled && replacedBy) return { tone: 'busy', word: 'Rotated' }
  return enabled ? { tone: 'ok', word: 'Active' } : { tone: 'idle', word: 'Disabled' }
}

const ERRORS: Record<string, string> = {
  dns: 'The name of the host was not found. Check the address.',
  refused: 'Nothing listens at that address. Is the receiver running?',
  reset: 'The receiver closed the connection before it answered.',
  timeout: 'The receiver took longer than this webhook may wait.',
  tls: 'The certificate of the receiver is not valid.',
  blocked: 'Deliveries may not go to that address: it is not one of the public internet.',
  redirect: 'The receiver answered with a redirect. Register the address that it leads to.',
  'too-large': 'The headers of the answer were too large.',
  http: 'The receiver answered, with a status other than 2xx.',
  transform: 'The transform of this webhook threw, took too long, or returned what cannot be sent.',
  lost: 'The process that made the attempt ended before it was done.',
  proxy: 'The proxy that deliveries leave through failed. The attempt does not count.',
}
/** What the operators of the host can do about it. */
const FOR_OPERATORS: Record<string, string> = {
  blocked: 'The option allowedNetworks allows others.',
  transform: 'The log of the host has the reason.',
}

export const errorMeaning = (error: string, operator = false): string =>
  [ERRORS[error] ?? 'The attempt failed.', operator && FOR_OPERATORS[error]]
    .filter(Boolean)
    .join(' ')
