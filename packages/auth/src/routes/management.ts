import { hideRoutes, operationRoutes } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import { KeyNotFound, UserNotFound } from '../errors.ts'
import { callOf, type OperationContext } from '../operations/context.ts'
import type { Operations } from '../operations/operations.ts'
import type { AuthSettings } from '../options.ts'
import { forwardAuthRoutes, type JudgeTarget } from './forward-auth.ts'
import { leakRoutes } from './leaks.ts'
import { declaringSchemes } from './openapi.ts'

/** The answer to ids that are too long for the router. */
export const unknownId = (path: string): Error =>
  path.startsWith('/keys/') ? new KeyNotFound() : new UserNotFound()

export function managementRoutes(
  api: FastifyInstance,
  context: OperationContext,
  { methods, ownKey, audit }: Operations,
  settings: AuthSettings,
  judge: JudgeTarget,
): void {
  const { githubLeaks, openapi } = settings
  const swaggerTransform = declaringSchemes(settings)
  // One of these answers has the text of a key.
  api.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  if (!openapi) hideRoutes(api)
  const ofPackage = {
    tag: 'auth',
    callerOf: callOf,
    config: (own: object = { scopes: ['auth:manage'] }) => ({
      ...own,
      swaggerTransform,
    }),
  }
  operationRoutes(api, methods, ofPackage)
  operationRoutes(api, ownKey, ofPackage)
  forwardAuthRoutes(api, judge, context.scopes, swaggerTransform)
  operationRoutes(api, audit, ofPackage)
  if (githubLeaks) leakRoutes(api, context, githubLeaks.keys, swaggerTransform)
}
