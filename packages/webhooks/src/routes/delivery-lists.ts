import { Type } from '@sinclair/typebox'
import { errorResponses, linkNext, pageQuery } from '@svc/core/internal'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '../operations/caller.ts'
import type { AttemptsPage, DeliveryLists } from '../operations/delivery-lists.ts'
import { jsonOf } from '../operations/delivery-attempts.ts'
import { DeliveryAttempt, deliveryFilter, overAllWebhooks } from '../delivery-schemas.ts'
import { config, Params, tags, type Api } from './management.ts'

const strict = { additionalProperties: false }
const OfOne = Type.Object(deliveryFilter)
const OverAll = Type.Object({ ...deliveryFilter, ...overAllWebhooks })
const LogQuery = Type.Composite([pageQuery(100), OverAll], strict)
const LogQueryOfOne = Type.Composite([pageQuery(100), OfOne], strict)
const DeadLetterQuery = Type.Composite([pageQuery(1000), OverAll], strict)
const DeadLetterQueryOfOne = Type.Composite([pageQuery(1000), OfOne], strict)

/** Payloads of one page, in bytes: a thousand payloads of some megabytes would not fit into memory. */
const PAGE_BYTES = 16 * 1024 * 1024

const pagingOf = (request: FastifyRequest) => ({ ...callerOf(request), pageBytes: PAGE_BYTES })

const response = { 200: Type.Array(DeliveryAttempt), ...errorResponses }

export function deliveryListRoutes(api: Api, lists: DeliveryLists): void {
  api.get(
    '/deliveries',
    {
      config,
      schema: {
        tags,
        summary: 'List the attempts of all deliveries, newest first',
        querystring: LogQuery,
        response,
      },
    },
    async (request, reply) => {
      const { query } = request
      return sendPage(
        request,
        reply,
        query.limit,
        await lists.listOverAll(query, pagingOf(request)),
      )
    },
  )

  api.get(
    '/dead-letters',
    {
      config,
      schema: {
        tags,
        summary: 'List all dead letters, newest first: deliveries whose attempts are used up',
        querystring: DeadLetterQuery,
        response,
      },
    },
    async (request, reply) => {
      const { query } = request
      const page = await lists.listDeadOverAll(query, pagingOf(request))
      return sendPage(request, reply, query.limit, page)
    },
  )

  api.get(
    '/:id/deliveries',
    {
      config,
      schema: {
        tags,
        summary: 'List the attempts of its deliveries, newest first',
        params: Params,
        querystring: LogQueryOfOne,
        response,
      },
    },
    async (request, reply) => {
      const selection = { ...request.query, webhookId: request.params.id }
      const page = await lists.list(selection, pagingOf(request))
      return sendPage(request, reply, request.query.limit, page)
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
        querystring: DeadLetterQueryOfOne,
        response,
      },
    },
    async (request, reply) => {
      const selection = { ...request.query, webhookId: request.params.id }
      const page = await lists.listDead(selection, pagingOf(request))
      return sendPage(request, reply, request.query.limit, page)
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
