import { hideRoutes } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import { KeyNotFound, UserNotFound } from '../errors.ts'
import type { Operations } from '../operations/operations.ts'
import type { AuthSettings } from '../options.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { auditRoutes } from './audit.ts'
import { leakRoutes } from './leaks.ts'
import { ownKeyRoutes } from './own-key.ts'
import { serviceRoutes, type JudgeTarget } from './services.ts'
import { usageRoutes } from './usage.ts'
import { userRoutes } from './users.ts'

/** The answer to ids that are too long for the router. */
export const unknownId = (path: string): Error =>
  path.startsWith('/keys/') ? new KeyNotFound() : new UserNotFound()

export function managementRoutes(
  api: FastifyInstance,
  operations: Operations,
  { githubLeaks, openapi }: AuthSettings,
  judge: JudgeTarget,
): void {
  // One of these answers has the text of a key.
  api.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  if (!openapi) hideRoutes(api)
  userRoutes(api, operations)
  apiKeyRoutes(api, operations)
  ownKeyRoutes(api, operations)
  usageRoutes(api, operations)
  serviceRoutes(api, operations, judge)
  auditRoutes(api, operations)
  if (githubLeaks) leakRoutes(api, operations, githubLeaks.keys)
}
