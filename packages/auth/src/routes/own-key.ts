/** The routes on which a key manages itself, whatever its scopes. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { errorResponses, optionalBody } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import { authOf } from '../auth-of.ts'
import { withKeyDemand } from '../guard/policy/policy-map.ts'
import { callOf } from '../operations/context.ts'
import type { Operations } from '../operations/operations.ts'
import { CreatedApiKey, PresentedKey, RotationBody } from '../schemas.ts'
import { declareSchemes } from './openapi.ts'

const config = withKeyDemand({ swaggerTransform: declareSchemes }, 'any-key')

export function ownKeyRoutes(app: FastifyInstance, operations: Operations): void {
  const api = app.withTypeProvider<TypeBoxTypeProvider>()

  api.get(
    '/me',
    {
      config,
      schema: {
        summary: 'Get the presented key',
        tags: ['auth'],
        response: { 200: PresentedKey, ...errorResponses },
      },
    },
    async (request) => operations.getPresentedKey(authOf(request)),
  )

  api.post(
    '/me/rotate',
    {
      config,
      schema: {
        summary:
          'Rotate the presented key; the text of the new one is in this answer and nowhere else',
        tags: ['auth'],
        body: optionalBody(RotationBody),
        response: { 201: CreatedApiKey, ...errorResponses },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await operations.rotateOwnKey(request.body ?? {}, callOf(request))),
  )
}
