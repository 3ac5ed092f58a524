import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Reads bodies of any type as bytes in this context, and sets `rawBody` and `rawHeaders` on requests.
 * Where the host has decorated requests with these names, only their values are set.
 */
export function readRawBodies(inbound: FastifyInstance): void {
  inbound.removeAllContentTypeParsers()
  inbound.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
  for (const name of ['rawBody', 'rawHeaders']) {
    if (!inbound.hasRequestDecorator(name)) inbound.decorateRequest(name, null)
  }
  inbound.addHook('preHandler', async (request) => {
    const { body } = request
    const rawBody = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
    Object.assign(request as FastifyRequest & { rawBody: Buffer; rawHeaders: string[] }, {
      rawBody,
      rawHeaders: request.raw.rawHeaders,
    })
  })
}
