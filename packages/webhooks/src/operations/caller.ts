/** Who asks for an operation: a request, or the process itself. */
import { EVERYWHERE, originOf, reachOf, type AuditOrigin, type Reach } from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'

export interface Caller {
  /** Whose webhooks it reaches: those of others do not exist for it. */
  reach: Reach
  /** What the audit says of it. */
  origin?: AuditOrigin
}

export const THE_PROCESS: Caller = { reach: EVERYWHERE }

/** What guards the routes says in `request.auth` who the caller is. */
export const callerOf = (request: FastifyRequest): Caller => ({
  reach: reachOf((request as { auth?: { tenant?: string | null } | null }).auth),
  origin: originOf(request),
})
