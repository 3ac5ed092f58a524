import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ErrorBody, page, pageQuery } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import type { Operations } from '../operations/operations.ts'
import { callOf } from '../operations/context.ts'
import { NewUser, tenantFilter, User } from '../schemas.ts'
import { config } from './config.ts'

const Id = Type.Object({ id: Type.String() })
const Query = Type.Composite([pageQuery(1000), Type.Object(tenantFilter)], {
  additionalProperties: false,
})

export function userRoutes(app: FastifyInstance, operations: Operations): void {
  const api = app.withTypeProvider<TypeBoxTypeProvider>()

  api.post(
    '/users',
    {
      config,
      schema: {
        summary: 'Create a user',
        tags: ['auth'],
        body: NewUser,
        response: { 201: User, '4xx': ErrorBody, '5xx': ErrorBody },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await operations.createUser(request.body, callOf(request))),
  )

  api.get(
    '/users',
    {
      config,
      schema: {
        summary: 'List users, newest first',
        tags: ['auth'],
        querystring: Query,
        response: { 200: Type.Array(User), '4xx': ErrorBody, '5xx': ErrorBody },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      const oneMore = { ...request.query, limit: limit + 1 }
      const rows = await operations.listUsers(oneMore, callOf(request))
      return page(request, reply, rows, limit)
    },
  )

  api.delete(
    '/users/:id',
    {
      config,
      schema: {
        summary: 'Delete a user and revoke all its keys',
        tags: ['auth'],
        params: Id,
        response: { 204: Type.Null(), '4xx': ErrorBody, '5xx': ErrorBody },
      },
    },
    async (request, reply) => {
      await operations.deleteUser(request.params.id, callOf(request))
      return reply.code(204).send(null)
    },
  )
}
