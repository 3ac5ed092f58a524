import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { BodyTooSlow } from './errors.ts'

/** Bodies of providers take milliseconds. Fastify itself has no limit for the time of a body. */
const BODY_TIMEOUT_MS = 30_000

/**
 * Reads bodies of any type as bytes in this context, and sets `rawBody` and `rawHeaders` on requests.
 * Where the host has decorated requests with these names, only their values are set.
 */
export function readRawBodies(inbound: FastifyInstance, timeoutMs = BODY_TIMEOUT_MS): void {
  inbound.removeAllContentTypeParsers()
  inbound.addHook('preParsing', (request, reply, body, done) => {
    refuseSlowBody(request, reply, body, timeoutMs)
    done()
  })
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

/** When the time is up, the error is answered and the connection is closed. */
function refuseSlowBody(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  body: RequestPayload,
  timeoutMs: number,
): void {
  const timer = setTimeout(() => {
    // No code reads the body, so no code would get the error.
    if (body.listenerCount('error') === 0) return raw.destroy()
    reply.header('connection', 'close')
    reply.raw.once('finish', () => raw.destroy())
    return body.emit('error', new BodyTooSlow({ cause: 'the body took too long' }))
  }, timeoutMs)
  timer.unref()
  const stop = () => clearTimeout(timer)
  raw.once('end', stop).once('close', stop)
}
