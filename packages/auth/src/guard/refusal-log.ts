/** Logs refused keys: which key and why, never its text. */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { AuthFailure } from './auth-failure.ts'

export interface RefusalDetails {
  verdict: AuthFailure['verdict']
  keyId?: string | null
  userId?: string | null
  /** The address that it must not be used from. `undefined` where it is not known. */
  ip?: string | undefined
  /** The prefix of a key without an id. */
  keyPrefix?: string
  /** Why keys cannot be checked. */
  reason?: string
}

/** A second defence: no call of ours logs one of these. */
const REDACTED = ['key', 'rawKey', 'secret', 'authorization', 'headers', '*.key', '*.headers']

export const redactingLog = (log: FastifyBaseLogger): FastifyBaseLogger =>
  log.child({}, { redact: REDACTED })

export function logRefusal(
  log: FastifyBaseLogger,
  request: FastifyRequest,
  details: RefusalDetails,
): void {
  // `Plans` has logged why, once a minute.
  if (details.verdict === 'plan unknown') return
  const level = details.verdict === 'unavailable' ? 'warn' : 'info'
  log[level]({ reqId: request.id, ...details }, 'key refused')
}
