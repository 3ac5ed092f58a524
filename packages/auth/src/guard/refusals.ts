/** The guard's answers, written once at boot: making an error costs more than the whole guard. */
import { statusText, type ErrorAnswer, type ErrorText } from '@svc/core/internal'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import {
  AmbiguousCredentials,
  AuthUnavailable,
  Blocked,
  InsufficientScope,
  InvalidKey,
  IpNotAllowed,
  MissingKey,
  PlanUnknown,
  QuotaExceeded,
  RateLimited,
} from '../errors.ts'
import type { Scope } from '../scopes.ts'
import type { AuthFailure } from './auth-failure.ts'

export interface Refusal {
  readonly statusCode: number
  readonly code: string
  readonly answer: ErrorAnswer
  /** `answer` as JSON. */
  readonly body: string
}

/** The `error` of every 403 of the guard. */
const FORBIDDEN = 'insufficient permissions'

export const MISSING_KEY = refusalOf(new MissingKey())
export const AMBIGUOUS_CREDENTIALS = refusalOf(new AmbiguousCredentials())
export const INVALID_KEY = refusalOf(new InvalidKey())
export const IP_NOT_ALLOWED = refusalOf(new IpNotAllowed(), FORBIDDEN)
export const BLOCKED = refusalOf(new Blocked())
export const RATE_LIMITED = refusalOf(new RateLimited())
export const QUOTA_EXCEEDED = refusalOf(new QuotaExceeded())
export const UNAVAILABLE = refusalOf(new AuthUnavailable())
export const PLAN_UNKNOWN = refusalOf(new PlanUnknown())

export const insufficientScope = (scopes: readonly Scope[]): Refusal =>
  refusalOf(new InsufficientScope([...new Set([...scopes, 'admin'])].join(', ')), FORBIDDEN)

/**
 * Ends the request. In a hook with a callback this must be the last call: calling `done` as well
 * would run the handler where an `onSend` hook is asynchronous.
 */
export function sendRefusal(
  reply: FastifyReply,
  refusal: Refusal,
  errorText: ErrorText | null,
  retryAfterSeconds?: number,
): void {
  reply.code(refusal.statusCode).header('content-type', 'application/json; charset=utf-8')
  // RFC 7235 §3.1: a 401 names the scheme that would be accepted.
  if (refusal.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  if (reply.request.raw.headers.upgrade !== undefined) endConnection(reply)
  reply.send(errorText === null ? refusal.body : errorText(refusal.answer, reply.request))
}

/** Node does not time out the connection of an upgrade: a refused caller must not keep it. */
function endConnection(reply: FastifyReply): void {
  const { socket } = reply.request.raw
  reply.header('connection', 'close').raw.once('finish', () => socket.end())
}

interface CodedError {
  statusCode?: number | undefined
  code: string
  message: string
}

function refusalOf({ statusCode = 500, code, message }: CodedError, error?: string): Refusal {
  const answer = { statusCode, code, error: error ?? statusText(statusCode), message }
  return { statusCode, code, answer, body: JSON.stringify(answer) }
}

/** Which key was refused and why, for the log: never its text. */
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
