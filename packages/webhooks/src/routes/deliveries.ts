import { Type } from '@sinclair/typebox'
import { EmptyBody, errorResponses, linkNext, optionalBody, pageQuery } from '@svc/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '../operations/caller.ts'
import type { AttemptsPage, DeliveryOperations } from '../operations/deliveries.ts'
import { jsonOf } from '../operations/delivery-attempts.ts'
import {
  deliveryFilter,
  DeliveryAttempt,
  QueuedDelivery,
  RedriveResult,
  TestBody,
} from '../schemas.ts'
import { config, Params, tags, type Api } from './management.ts'

const LogQuery = Type.Composite([pageQuery(100), Type.Object(deliveryFilter)], {
  additionalProperties: false,
})
const DeliveryParams = Type.Object({ ...Params.properties, deliveryId: Type.String() })

/** Payloads of one page, in bytes: a thousand payloads of some megabytes would not fit into memory. */
const PAGE_BYTES = 16 * 1024 * 1024

const pagingOf = (request: FastifyRequest) => ({ ...callerOf(request), pageBytes: PAGE_BYTES })

export function deliveryRoutes(api: Api, deliveries: DeliveryOperations): void {
  api.get(
    '/:id/deliveries',
    {
      config,
      schema: {
        tags,
        summary: 'List the attempts of its deliveries, newest first',
        params: Params,
        querystring: LogQuery,
        response: { 200: Type.Array(DeliveryAttempt), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      return sendPage(
        request,
        reply,
        limit,
        await deliveries.list(request.params.id, request.query, pagingOf(request)),
      )
    },
  )

  api.post(
    '/:id/deliveries/:deliveryId/redeliver',
    {
      config,
      schema: {
        tags,
        summary: 'Queue a delivery once more, under a new delivery id',
        params: DeliveryParams,
        body: EmptyBody,
        response: { 202: QueuedDelivery, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { id: webhookId, deliveryId } = request.params
      const input = { webhookId, deliveryId }
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

  api.get(
    '/:id/dead-letters',
    {
      config,
      schema: {
        tags,
        summary: 'List its dead letters, newest first: deliveries whose attempts are used up',
        params: Params,
        querystring: pageQuery(1000),
        response: { 200: Type.Array(DeliveryAttempt), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit, after } = request.query
      const page = { limit, ...(after && { after }) }
      return sendPage(
        request,
        reply,
        limit,
        await deliveries.listDead(request.params.id, page, pagingOf(request)),
      )
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
      return reply.code(202).send(await deliveries.redrive(id, undefined, callerOf(request)))
    },
  )
}

/** Sends text that is JSON already: a serializer would round the big numbers of a payload. */
function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  limit: number,
  { rows, hasMore }: AttemptsPage,
): never {
  const last = rows.at(-1)
  if (hasMore && last) linkNext(request, reply, limit, last.id)
  return reply
    .type('application/json; charset=utf-8')
    .send(`[${rows.map(jsonOf).join(',')}]`) as never
}
