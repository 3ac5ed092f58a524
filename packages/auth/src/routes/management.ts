import type { FastifyInstance } from 'fastify'
import { KeyNotFound, UserNotFound } from '../errors.ts'
import type { Operations } from '../operations/operations.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { userRoutes } from './users.ts'

/** The answer to ids that are too long for the router. */
export const unknownId = (path: string): Error =>
  path.startsWith('/keys/') ? new KeyNotFound() : new UserNotFound()

export function managementRoutes(api: FastifyInstance, operations: Operations): void {
  // One of these answers has the text of a key.
  api.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  userRoutes(api, operations)
  apiKeyRoutes(api, operations)
}
