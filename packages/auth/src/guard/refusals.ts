/** The guard's answers, written once at boot: making an error costs more than the whole guard. */
import type { FastifyReply } from 'fastify'
import { STATUS_CODES } from 'node:http'
import {
  Blocked,
  InsufficientScope,
  InvalidKey,
  MissingKey,
  Unavailable,
  UnclearKey,
} from '../errors.ts'
import type { Scope } from '../scopes.ts'

export interface Refusal {
  readonly statusCode: number
  readonly body: string
}

export const MISSING_KEY = refusalOf(new MissingKey())
export const UNCLEAR_KEY = refusalOf(new UnclearKey())
export const INVALID_KEY = refusalOf(new InvalidKey())
export const BLOCKED = refusalOf(new Blocked())
export const UNAVAILABLE = refusalOf(new Unavailable())

export const insufficientScope = (scopes: readonly Scope[]): Refusal =>
  refusalOf(
    new InsufficientScope([...new Set([...scopes, 'admin'])].join(', ')),
    'insufficient permissions',
  )

/**
 * Ends the request. From a hook with a callback this must be the last thing that happens: calling
 * `done` as well would run the handler wherever an `onSend` hook is asynchronous.
 */
export function refuse(reply: FastifyReply, refusal: Refusal, retryAfterSeconds?: number): void {
  reply.code(refusal.statusCode).header('content-type', 'application/json; charset=utf-8')
  if (refusal.statusCode === 401) reply.header('www-authenticate', 'Bearer')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  if (reply.request.raw.headers.upgrade !== undefined) endConnection(reply)
  reply.send(refusal.body)
}

/** The connection of an upgrade is no longer Node's to time out: whoever is refused must not keep it. */
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
  const body = { statusCode, code, error: error ?? STATUS_CODES[statusCode], message }
  return { statusCode, body: JSON.stringify(body) }
}
