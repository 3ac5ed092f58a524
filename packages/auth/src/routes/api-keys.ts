import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ErrorBody, page, pageQuery } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import type { Operations } from '../operations/operations.ts'
import { ApiKey, CreatedApiKey, CreateApiKeyBody } from '../schemas.ts'
import { config } from './config.ts'

const Id = Type.Object({ id: Type.String() })
const UserId = Type.Object({ userId: Type.String() })

export function apiKeyRoutes(app: FastifyInstance, operations: Operations): void {
  const api = app.withTypeProvider<TypeBoxTypeProvider>()

  api.post(
    '/users/:userId/keys',
    {
      config,
      schema: {
        summary: 'Create a key; its text is in this answer and nowhere else',
        tags: ['auth'],
        params: UserId,
        body: CreateApiKeyBody,
        response: { 201: CreatedApiKey, '4xx': ErrorBody, '5xx': ErrorBody },
      },
      // No body at all means all defaults.
      preValidation: async (request) => {
        if (request.body === undefined) request.body = {}
      },
    },
    async (request, reply) => {
      const input = { ...request.body, userId: request.params.userId }
      const created = await operations.createApiKey(input, { caller: request.auth })
      return reply.code(201).send(created)
    },
  )

  api.get(
    '/users/:userId/keys',
    {
      config,
      schema: {
        summary: 'List the keys of a user, newest first',
        tags: ['auth'],
        params: UserId,
        querystring: pageQuery(1000),
        response: { 200: Type.Array(ApiKey), '4xx': ErrorBody, '5xx': ErrorBody },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      const oneMore = { ...request.query, limit: limit + 1 }
      const rows = await operations.listApiKeys(request.params.userId, oneMore)
      return page(request, reply, rows, limit)
    },
  )

  api.delete(
    '/keys/:id',
    {
      config,
      schema: {
        summary: 'Revoke a key',
        tags: ['auth'],
        params: Id,
        response: { 204: Type.Null(), '4xx': ErrorBody, '5xx': ErrorBody },
      },
    },
    async (request, reply) => {
      await operations.revokeApiKey(request.params.id, { caller: request.auth })
      return reply.code(204).send(null)
    },
  )
}
