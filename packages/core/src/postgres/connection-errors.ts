/** Recognises errors of the connection to Postgres, and explains them. */
import type pg from 'pg'
import { addressOf } from './connection-config.ts'

/**
 * Whether an error means that Postgres is not available, rather than that it refused a statement.
 */
export function isConnectionError(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && (UNAVAILABLE_STATES.test(code) || UNAVAILABLE_CODES.has(code)))
    return true
  return typeof message === 'string' && UNAVAILABLE_MESSAGES.test(message)
}

/**
 * Whether nothing can be done at the moment. A statement that took too long while the server answered
 * others is no outage: it may be that statement alone.
 */
export const isOutage = (error: unknown): boolean =>
  isConnectionError(error) && !hasBeenCancelled(error)

/** Marks the error of a statement that was given up here, and that the server has cancelled. */
export const markCancelled = (error: Error): Error => Object.assign(error, { [CANCELLED]: true })

const CANCELLED = Symbol('cancelled by the server')

const hasBeenCancelled = (error: unknown): boolean =>
  (error as { [CANCELLED]?: boolean } | null)?.[CANCELLED] === true

/**
 * SQLSTATEs: connections (08), a server that stops or starts (57P01 to 57P05), too many clients
 * (53300), and a server that only reads, which a failover leaves behind for a moment (25006).
 */
const UNAVAILABLE_STATES = /^(08...|57P0[1-5]|53300|25006)$/

const UNAVAILABLE_CODES = new Set([
  // Of ours, which has such an error as its cause.
  'SVC_UNAVAILABLE',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** pg and pg-pool give these no code. */
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed)|Cannot use a pool after calling end|Query read timeout)/

/** One sentence for the operator who starts the process. It never contains a password. */
export function whyUnreachable(error: unknown, config: pg.PoolConfig): string {
  const { code, message } = (error ?? {}) as { code?: string; message?: string }
  const reason = (message || code || 'no reason given').replaceAll(/\s+/g, ' ').trim()
  const at = addressOf(config)
  const advice = 'check the option "database" (by default the secret DATABASE_URL)'
  return isSqlState(code)
    ? `svcCore: Postgres at ${at} answers, but refuses: ${reason}: ${advice}`
    : `svcCore: Postgres cannot be reached at ${at} (${reason}): start it, or ${advice}`
}

/** Such codes come from the server; the system's own are words like ECONNREFUSED. */
const isSqlState = (code: string | undefined): boolean =>
  code !== undefined && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)
