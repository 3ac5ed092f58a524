/** The page and its files. */
import { withOwnAccess } from '@svc/core/internal'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Asset, PageFiles } from '../page/page-files.ts'

const config = withOwnAccess({})
const schema: object = { hide: true }

export function pageRoutes(app: FastifyInstance, { index, assets }: PageFiles): void {
  // Their names hold a hash of what is in them.
  app.get<{ Params: { name: string } }>(
    '/assets/:name',
    { config, schema },
    async (request, reply) => {
      const asset = assets.get(request.params.name)
      if (!asset) return reply.callNotFound()
      reply.header('cache-control', 'public, max-age=31536000, immutable')
      return send(request, reply, asset)
    },
  )

  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store')
    return send(request, reply, index)
  }
  app.get('/', { config, schema }, sendPage)
  // The page itself maps the paths below it to screens.
  app.get('/*', { config, schema }, sendPage)
}

/** Fastify answers a path that cannot be decoded itself, before any hook: the page says that it has none of it. */
export function takeMalformedPaths({ server }: FastifyInstance, base: string): void {
  server.prependListener('request', (request: IncomingMessage) => {
    const [path = ''] = request.url?.split('?') ?? []
    if (!path.startsWith(`${base}/`)) return
    try {
      decodeURI(path)
    } catch {
      request.url = `${base}/%25`
    }
  })
}

export const takesGzip = ({ headers }: FastifyRequest): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(headers['accept-encoding'] ?? '')

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, body, gzipped, etag }: Asset,
): FastifyReply {
  reply.header('etag', etag).header('vary', 'accept-encoding').type(type)
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  if (gzipped === null || !takesGzip(request)) return reply.send(body)
  return reply.header('content-encoding', 'gzip').send(gzipped)
}
