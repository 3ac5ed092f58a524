import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Reads bodies of any type as bytes in this context, and gives requests `rawBody` and `rawHeaders`.
 * A host may have declared such properties itself: then only the values are ours.
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
