import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ArrivingBodies, type BodyTimes } from './arriving-bodies.ts'

/**
 * Reads bodies of any type as bytes in this context, and sets `rawBody` and `rawHeaders` on requests.
 * Where the host has decorated requests with these names, only their values are set.
 */
export function readRawBodies(inbound: FastifyInstance, times?: BodyTimes): void {
  const arriving = new ArrivingBodies(times)
  inbound.removeAllContentTypeParsers()
  inbound.addHook('preParsing', (request, reply, body, done) => {
    arriving.watch(request, reply, body)
    done()
  })
  inbound.addHook('onSend', (request, reply, payload, done) => {
    arriving.endWithReply(request, reply)
    done(null, payload)
  })
  inbound.addHook('preClose', async () => arriving.hostCloses())
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
