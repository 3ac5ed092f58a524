import { Type } from '@sinclair/typebox'
import { EmptyBody, errorResponses, nullable, page, pageQuery } from '@svc/core/internal'
import type { FastifyRequest } from 'fastify'
import type { InboundOperations } from '../operations/inbound.ts'
import { config, tags, type Api } from './management.ts'

const Time = Type.String({ format: 'date-time' })
const Outcome = Type.Unsafe<'accepted' | 'duplicate' | 'refused' | 'failed'>({
  type: 'string',
  enum: ['accepted', 'duplicate', 'refused', 'failed'],
})

const Query = Type.Composite(
  [
    pageQuery(100),
    Type.Object({
      source: Type.Optional(Type.String()),
      outcome: Type.Optional(Outcome),
      tenant: Type.Optional(Type.String({ description: 'Empty for what has none.' })),
      since: Type.Optional(Time),
      until: Type.Optional(Time),
    }),
  ],
  { additionalProperties: false },
)

const LoggedRequest = Type.Object({
  id: Type.String({ format: 'uuid' }),
  at: Time,
  source: Type.String(),
  tenant: nullable(Type.String()),
  outcome: Outcome,
  reason: nullable(Type.String()),
  event: nullable(Type.String({ description: 'The name of the event.' })),
  eventId: nullable(Type.String()),
  ip: nullable(Type.String()),
  bytes: Type.Integer(),
  durationMs: Type.Integer(),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
  ),
  body: Type.Optional(Type.String()),
})

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
      const own = tenantOf(request)
      const asked = tenant === undefined ? undefined : tenant || null
      // Another tenant than the key's own has nothing that it may see.
      if (own !== undefined && asked !== undefined && asked !== own) return []
      const rows = await requests.list({ ...filter, tenant: own ?? asked, limit: limit + 1 })
      return page(request, reply, rows, limit).map(shown)
    },
  )

  api.post(
    '/inbound/:id/replay',
    {
      config,
      schema: {
        tags,
        summary: 'Publish what an inbound request was published as once more',
        params: Type.Object({ id: Type.String({ description: 'Id of the logged request.' }) }),
        body: EmptyBody,
        response: {
          202: Type.Object({
            eventId: Type.String(),
            eventIds: Type.Optional(Type.Array(Type.String())),
          }),
          ...errorResponses,
        },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await requests.replay(request.params.id, tenantOf(request))),
  )
}

/** The tenant of the key that asks, where `@svc/auth` is there and the key has one. */
const tenantOf = (request: FastifyRequest): string | undefined =>
  (request as { auth?: { tenant?: string | null } | null }).auth?.tenant ?? undefined

type Listed = Awaited<ReturnType<InboundOperations['list']>>[number]

function shown({ url: _, headers, body, ...row }: Listed) {
  if (headers === null) return row
  const lines = JSON.parse(headers) as string[]
  const named: Record<string, string | string[]> = {}
  for (let line = 0; line < lines.length; line += 2) {
    const name = (lines[line] ?? '').toLowerCase()
    const value = lines[line + 1] ?? ''
    const before = Object.hasOwn(named, name) ? named[name] : undefined
    named[name] = before === undefined ? value : [before, value].flat()
  }
  return { ...row, headers: named, body: body?.toString('utf8') ?? '' }
}
