import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { errorResponses } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import { callOf } from '../operations/context.ts'
import type { Operations } from '../operations/operations.ts'
import { Usage, usageFilter, usageSpan } from '../usage/usage-schemas.ts'
import { config } from './config.ts'

const closed = { additionalProperties: false }
const Id = Type.Object({ id: Type.String() })
const response = { 200: Usage, ...errorResponses }

export function usageRoutes(app: FastifyInstance, operations: Operations): void {
  const api = app.withTypeProvider<TypeBoxTypeProvider>()

  api.get(
    '/keys/:id/usage',
    {
      config,
      schema: {
        summary: 'Count the requests with a key by what came of them',
        tags: ['auth'],
        params: Id,
        querystring: Type.Object(usageSpan, closed),
        response,
      },
    },
    async (request) =>
      operations.getUsage({ ...request.query, keyId: request.params.id }, callOf(request)),
  )

  api.get(
    '/usage',
    {
      config,
      schema: {
        summary: 'Count the requests with all keys by what came of them',
        tags: ['auth'],
        querystring: Type.Object({ ...usageSpan, ...usageFilter }, closed),
        response,
      },
    },
    async (request) => operations.getUsage(request.query, callOf(request)),
  )
}
