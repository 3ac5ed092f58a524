import { Type, type TProperties } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListPage } from '../actions/define-operation.ts'

/** The query of a list, newest first: `?limit`, `?after=<id>` and filters. */
export const pageQuery = (defaultLimit: number, filters: TProperties = {}) =>
  Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: 1000, default: defaultLimit }),
      after: Type.Optional(Type.String({ format: 'uuid' })),
      ...filters,
    },
    { additionalProperties: false },
  )

/** `cutAt`: where the search for these rows ended early. */
export const pageOf = (rows: ListPage['rows'], limit: number, cutAt?: string): ListPage =>
  rows.length > limit
    ? { rows: rows.slice(0, limit), hasMore: true }
    : { rows, hasMore: cutAt !== undefined, next: cutAt }

/** Sends a page, and the URL of the next one in a `Link` header (RFC 8288). */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  limit: number,
  { rows, hasMore, next = rows.at(-1)?.id, json }: ListPage,
): FastifyReply {
  if (hasMore && next !== undefined) {
    const query = new URLSearchParams(request.url.split('?')[1])
    query.set('limit', String(limit))
    query.set('after', next)
    void reply.header('link', `<${pathOf(request.url)}?${query}>; rel="next"`)
  }
  if (json === undefined) return reply.send(rows)
  return reply.type('application/json; charset=utf-8').send(json)
}

/** Without a foreign origin: a target may be given as `http://other/path` or `//other/path`. */
const pathOf = (url: string): string =>
  (url.split(/[?#]/)[0] ?? '').replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/^\/*/, '/')
