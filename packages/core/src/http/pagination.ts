import { Type, type Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** `?limit` and `?after=<id>` of a list, newest first. */
export const pageQuery = (defaultLimit: number, most = 1000) =>
  Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: most, default: defaultLimit }),
      after: Type.Optional(Type.String({ format: 'uuid' })),
    },
    { additionalProperties: false },
  )

export type PageQuery = Static<ReturnType<typeof pageQuery>>

/**
 * Cuts a list that was read with one row too many, and gives the URL of the next page in a `Link`
 * header (RFC 8288). `most`: how many rows the page has where they are large.
 */
export function page<Row extends { id: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  rows: Row[],
  limit: number,
  most = limit,
): Row[] {
  const sent = rows.slice(0, most)
  const last = sent.at(-1)
  if (last && sent.length < rows.length) linkNext(request, reply, limit, last.id)
  return sent
}

/** Says in a `Link` header (RFC 8288) where the page is that follows the row `after`. */
export function linkNext(
  request: FastifyRequest,
  reply: FastifyReply,
  limit: number,
  after: string,
): void {
  const query = new URLSearchParams(request.url.split('?')[1])
  query.set('limit', String(limit))
  query.set('after', after)
  void reply.header('link', `<${pathOf(request.url)}?${query}>; rel="next"`)
}

/** Without a foreign origin: a target may be given as `http://other/path` or `//other/path`. */
const pathOf = (url: string): string =>
  (url.split(/[?#]/)[0] ?? '').replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/^\/*/, '/')
