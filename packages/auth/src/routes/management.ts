import type { FastifyInstance } from 'fastify'
import type { Operations } from '../operations/index.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { userRoutes } from './users.ts'

export function managementRoutes(api: FastifyInstance, operations: Operations): void {
  // The text of a key stands in one of these answers.
  api.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  userRoutes(api, operations)
  apiKeyRoutes(api, operations)
}
