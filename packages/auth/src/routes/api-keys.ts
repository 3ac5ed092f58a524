import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { ErrorBody, errorResponses, optionalBody, page, pageQuery } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import type { Operations } from '../operations/operations.ts'
import { callOf } from '../operations/context.ts'
import {
  ApiKey,
  CreateApiKeyBody,
  CreatedApiKey,
  KeyChangesBody,
  keyFilter,
  RotationBody,
  tenantFilter,
} from '../schemas.ts'
import { config } from './config.ts'

const Id = Type.Object({ id: Type.String() })
const UserId = Type.Object({ userId: Type.String() })
const QueryOfOne = Type.Composite([pageQuery(1000), Type.Object(tenantFilter)], {
  additionalProperties: false,
})
const Query = Type.Composite([pageQuery(1000), Type.Object(keyFilter)], {
  additionalProperties: false,
})

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
      const created = await operations.createApiKey(input, callOf(request))
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
        querystring: QueryOfOne,
        response: { 200: Type.Array(ApiKey), '4xx': ErrorBody, '5xx': ErrorBody },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      const oneMore = { ...request.query, limit: limit + 1 }
      const { userId } = request.params
      const rows = await operations.listApiKeys(userId, oneMore, callOf(request))
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
      await operations.revokeApiKey(request.params.id, callOf(request))
      return reply.code(204).send(null)
    },
  )

  api.get(
    '/keys',
    {
      config,
      schema: {
        summary: 'List keys, newest first',
        tags: ['auth'],
        querystring: Query,
        response: { 200: Type.Array(ApiKey), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      const oneMore = { ...request.query, limit: limit + 1 }
      const rows = await operations.listApiKeys(oneMore, {}, callOf(request))
      return page(request, reply, rows, limit)
    },
  )

  api.get(
    '/keys/:id',
    {
      config,
      schema: {
        summary: 'Get a key',
        tags: ['auth'],
        params: Id,
        response: { 200: ApiKey, ...errorResponses },
      },
    },
    async (request) => operations.getApiKey(request.params.id, callOf(request)),
  )

  api.patch(
    '/keys/:id',
    {
      config,
      schema: {
        summary: 'Change a key, disable it or enable it again',
        tags: ['auth'],
        params: Id,
        body: optionalBody(KeyChangesBody),
        response: { 200: ApiKey, ...errorResponses },
      },
    },
    async (request) =>
      operations.updateApiKey(request.params.id, request.body ?? {}, callOf(request)),
  )

  api.post(
    '/keys/:id/rotate',
    {
      config,
      schema: {
        summary: 'Rotate a key; the text of the new one is in this answer and nowhere else',
        tags: ['auth'],
        params: Id,
        body: optionalBody(RotationBody),
        response: { 201: CreatedApiKey, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const input = request.body ?? {}
      return reply.code(201).send(await operations.rotateApiKey(id, input, callOf(request)))
    },
  )
}
