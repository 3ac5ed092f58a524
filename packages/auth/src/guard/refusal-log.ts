/** What the log is told of keys: which one, and what became of it. Never the key. */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'

export type Verdict =
  | 'missing'
  | 'unclear'
  | 'unknown'
  | 'revoked'
  | 'expired'
  | 'blocked'
  | 'insufficient scope'
  | 'unavailable'

export interface Facts {
  verdict: Verdict
  keyId?: string | null
  userId?: string | null
  /** Of a key that has no id. */
  keyPrefix?: string
  /** Why it is unavailable. */
  reason?: string
}

/** A second net below the first, which is to log no secret at all. */
const REDACTED = ['key', 'rawKey', 'secret', 'authorization', 'headers', '*.key', '*.headers']

export const auditLog = (log: FastifyBaseLogger): FastifyBaseLogger =>
  log.child({}, { redact: REDACTED })

export function logRefusal(log: FastifyBaseLogger, request: FastifyRequest, facts: Facts): void {
  const level = facts.verdict === 'unavailable' ? 'warn' : 'info'
  log[level]({ reqId: request.id, ...facts }, 'key refused')
}
