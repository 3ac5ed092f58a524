import { Type } from '@sinclair/typebox'
import {
  EmptyBody,
  errorResponses,
  narrowedReach,
  originOf,
  page,
  pageQuery,
} from '@svc/core/internal'
import { inboundFilter, LoggedRequest, ReplayResult } from '../inbound-schemas.ts'
import type { InboundOperations } from '../operations/inbound.ts'
import { config, reachOfCaller, tags, type Api } from './management.ts'

const Query = Type.Composite([pageQuery(100), Type.Object(inboundFilter)], {
  additionalProperties: false,
})
/**
 * Bodies of one page, in bytes: a thousand bodies of a megabyte would not fit into memory. Postgres sends
 * each byte as two characters.
 */
const PAGE_BYTES = 8 * 1024 * 1024

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
      const { limit, tenant, ...filter } = request.query
      const reach = narrowedReach(reachOfCaller(request), tenant)
      if (reach === undefined) return []
      const rows = await requests.list({
        ...filter,
        ...(reach === null ? {} : { tenant: reach }),
        limit: limit + 1,
        bodyBytes: PAGE_BYTES,
      })
      const firstWithout = rows.findIndex(({ bodyLeftOut }) => bodyLeftOut)
      return page(request, reply, rows, limit, firstWithout === -1 ? limit : firstWithout)
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
      reply
        .code(202)
        .send(await requests.replay(request.params.id, reachOfCaller(request), originOf(request))),
  )
}
