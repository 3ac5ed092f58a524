import { Type } from '@sinclair/typebox'
import { EmptyBody, errorResponses, optionalBody } from '@svc/core/internal'
import { callerOf } from '../operations/caller.ts'
import type { DeliveryOperations } from '../operations/deliveries.ts'
import { TestBody } from '../schemas.ts'
import { QueuedDelivery, RedeliverBody, RedriveResult } from '../delivery-schemas.ts'
import { config, Params, tags, type Api } from './management.ts'

const DeliveryParams = Type.Object({ ...Params.properties, deliveryId: Type.String() })

export function deliveryRoutes(api: Api, deliveries: DeliveryOperations): void {
  api.post(
    '/:id/deliveries/:deliveryId/redeliver',
    {
      config,
      schema: {
        tags,
        summary: 'Queue a delivery once more, under a new delivery id',
        params: DeliveryParams,
        body: optionalBody(RedeliverBody),
        response: { 202: QueuedDelivery, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { id: webhookId, deliveryId } = request.params
      const input = { ...request.body, webhookId, deliveryId }
      return reply.code(202).send(await deliveries.redeliver(input, undefined, callerOf(request)))
    },
  )

  api.post(
    '/:id/test',
    {
      config,
      schema: {
        tags,
        summary: 'Send a webhook.test event, or the example of an event, to this webhook alone',
        params: Params,
        body: optionalBody(TestBody),
        response: { 202: QueuedDelivery, ...errorResponses },
      },
    },
    async (request, reply) => {
      const input = { ...request.body, id: request.params.id }
      return reply.code(202).send(await deliveries.test(input, undefined, callerOf(request)))
    },
  )

  api.post(
    '/:id/redrive',
    {
      config,
      schema: {
        tags,
        summary: 'Queue its dead letters again, with all their attempts',
        params: Params,
        body: EmptyBody,
        response: { 202: RedriveResult, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      return reply.code(202).send(await deliveries.redrive({ id }, undefined, callerOf(request)))
    },
  )
}
