/** The caller of an operation: a request, or the process itself. */
import {
  EVERYWHERE,
  operationFor,
  originOf,
  reachOf,
  type AuditOrigin,
  type OperationCaller,
  type Reach,
} from '@svc/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { OperatorOnly } from '../errors.ts'

export interface Caller extends OperationCaller {
  /** Whose webhooks it reaches: those of others do not exist for it. */
  reach: Reach
  /** Whether it may do all that its reach allows: a key with `admin`, or code of this process. */
  isAdmin: boolean
  /** Whether it may see the events about API keys, and have them sent: see key-events.ts. */
  seesKeyEvents: boolean
  /** The caller as the audit names it. */
  origin?: AuditOrigin
  /** Aborts as the client goes away, for what waits. Absent for code of this process. */
  gone?: () => AbortSignal
}

export const THE_PROCESS: Caller = { reach: EVERYWHERE, isAdmin: true, seesKeyEvents: true }

export const operation = operationFor<Caller>()

/** The rules of routes for an operator with `admin` alone. */
export const ADMIN = { scopes: ['admin'] }

/** @throws OperatorOnly */
export function assertOperator({ reach }: Caller): void {
  if (reach !== EVERYWHERE) throw new OperatorOnly()
}

/** The scope of `@svc/auth` that opens its routes for keys. */
export const READS_KEYS = 'auth:manage'

interface Auth {
  tenant?: string | null
  scopes?: readonly string[]
}

/**
 * The plugin that guards the routes sets `request.auth` to the caller. Where it is not set, every
 * request that reaches the routes may do all.
 */
export function callerOf(request: FastifyRequest, reply: FastifyReply): Caller {
  const { auth } = request as { auth?: Auth | null }
  const holds = (scope: string) => auth?.scopes?.includes(scope) === true
  const isAdmin = auth === null || auth === undefined || holds('admin')
  const seesKeyEvents = isAdmin || holds(READS_KEYS)
  return {
    reach: reachOf(auth),
    isAdmin,
    seesKeyEvents,
    origin: originOf(request),
    gone: () => endOf(reply),
  }
}

function endOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (raw.closed) gone.abort()
  raw.once('close', () => gone.abort())
  return gone.signal
}
