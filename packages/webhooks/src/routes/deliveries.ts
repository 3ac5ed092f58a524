import { Type } from '@sinclair/typebox'
import { linkNext, pageQuery } from '@svc/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deliveries, Shown } from '../operations/deliveries.ts'
import { jsonOf } from '../operations/delivery-records.ts'
import { deliveryFilter, DeliveryRecord, Nothing, orNull, Queued, Redriven } from '../schemas.ts'
import { errors, managed, Params, tags, type Api } from './management.ts'

const LogQuery = Type.Composite([pageQuery(100), Type.Object(deliveryFilter)], {
  additionalProperties: false,
})
const DeliveryParams = Type.Object({ ...Params.properties, deliveryId: Type.String() })

/** Payloads of one page, in bytes: a thousand of a few megabytes would be more than memory holds. */
const PAGE_BYTES = 16 * 1024 * 1024

export function serveDeliveries(api: Api, deliveries: Deliveries): void {
  api.get(
    '/:id/deliveries',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'List the attempts of its deliveries, newest first',
        params: Params,
        querystring: LogQuery,
        response: { 200: Type.Array(DeliveryRecord), ...errors },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      return sendPage(
        request,
        reply,
        limit,
        await deliveries.list(request.params.id, request.query, PAGE_BYTES),
      )
    },
  )

  api.post(
    '/:id/deliveries/:deliveryId/redeliver',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'Deliver once more, as a delivery of its own',
        params: DeliveryParams,
        body: orNull(Nothing),
        response: { 202: Queued, ...errors },
      },
    },
    async ({ params: { id: webhookId, deliveryId } }, reply) =>
      reply.code(202).send(await deliveries.redeliver({ webhookId, deliveryId })),
  )

  api.post(
    '/:id/test',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'Send a webhook.test event to this webhook alone',
        params: Params,
        body: orNull(Nothing),
        response: { 202: Queued, ...errors },
      },
    },
    async ({ params }, reply) => reply.code(202).send(await deliveries.test(params.id)),
  )

  api.get(
    '/:id/dead-letters',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'List its deliveries whose attempts are used up, newest first',
        params: Params,
        querystring: pageQuery(1000),
        response: { 200: Type.Array(DeliveryRecord), ...errors },
      },
    },
    async (request, reply) => {
      const { limit, after } = request.query
      const asked = { limit, ...(after && { after }) }
      return sendPage(
        request,
        reply,
        limit,
        await deliveries.listDead(request.params.id, asked, PAGE_BYTES),
      )
    },
  )

  api.post(
    '/:id/redrive',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'Give its dead letters all their attempts again',
        params: Params,
        body: orNull(Nothing),
        response: { 202: Redriven, ...errors },
      },
    },
    async ({ params }, reply) => reply.code(202).send(await deliveries.redrive(params.id)),
  )
}

/** As text that is JSON already: a serializer would round the big numbers of a payload. */
function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  limit: number,
  { records, hasMore }: Shown,
): never {
  const last = records.at(-1)
  if (hasMore && last) linkNext(request, reply, limit, last.id)
  return reply
    .type('application/json; charset=utf-8')
    .send(`[${records.map(jsonOf).join(',')}]`) as never
}
