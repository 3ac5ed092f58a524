import { Type } from '@sinclair/typebox'
import { EmptyBody, errorResponses, page, pageQuery } from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'
import { inboundFilter, LoggedRequest, ReplayResult } from '../inbound-schemas.ts'
import type { InboundOperations } from '../operations/inbound.ts'
import { config, tags, type Api } from './management.ts'

const Query = Type.Composite([pageQuery(100), Type.Object(inboundFilter)], {
  additionalProperties: false,
})
const Params = Type.Object({ id: Type.String({ description: 'Id of the logged request.' }) })

export function inboundRoutes(api: Api, requests: InboundOperations): void {
  api.get(
    '/inbound',
    {
      config,
      schema: {
        tags,
        summary: 'List inbound requests, newest first',
        querystring: Query,
        response: { 200: Type.Array(LoggedRequest), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit, ...filter } = request.query
      const own = tenantOf(request)
      // Another tenant than the key's own has nothing that it may see.
      if (own !== undefined && filter.tenant !== undefined && filter.tenant !== own) return []
      const rows = await requests.list({
        ...filter,
        ...(own !== undefined && { tenant: own }),
        limit: limit + 1,
      })
      return page(request, reply, rows, limit)
    },
  )

  api.post(
    '/inbound/:id/replay',
    {
      config,
      schema: {
        tags,
        summary: 'Publish what an inbound request was published as once more',
        params: Params,
        body: EmptyBody,
        response: { 202: ReplayResult, ...errorResponses },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await requests.replay(request.params.id, tenantOf(request))),
  )
}

/** The tenant of the key that asks, where `@svc/auth` is there and the key has one. */
const tenantOf = (request: FastifyRequest): string | undefined =>
  (request as { auth?: { tenant?: string | null } | null }).auth?.tenant ?? undefined
