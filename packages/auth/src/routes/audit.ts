import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { AuditEntry, auditFilter, errorResponses, page, pageQuery } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import { callOf } from '../operations/context.ts'
import type { Operations } from '../operations/operations.ts'
import { configFor } from './config.ts'

const Query = Type.Composite([pageQuery(1000), Type.Object(auditFilter)], {
  additionalProperties: false,
})

export function auditRoutes(app: FastifyInstance, operations: Operations): void {
  app.withTypeProvider<TypeBoxTypeProvider>().get(
    '/audit',
    {
      config: configFor('audit:read'),
      schema: {
        summary: 'List the changes of users, keys and webhooks, newest first',
        tags: ['auth'],
        querystring: Query,
        response: { 200: Type.Array(AuditEntry), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      const oneMore = { ...request.query, limit: limit + 1 }
      const rows = await operations.listAudit(oneMore, callOf(request))
      return page(request, reply, rows, limit)
    },
  )
}
