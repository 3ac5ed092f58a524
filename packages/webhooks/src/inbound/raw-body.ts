import type { ServerHttp2Stream } from 'node:http2'
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { Timer } from '@svc/core/internal'
import { BodyTooSlow } from './errors.ts'

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

export interface BodyTimes {
  /** How long a body may take to arrive, in milliseconds. @default 30000 */
  timeoutMs?: number
  /** How much longer it may take when the host begins to close, in milliseconds. @default 1000 */
  closingMs?: number
}

/**
 * The requests whose body has not arrived yet. Bodies of providers take milliseconds. Fastify itself
 * has no limit for the time of a body, and a server that closes waits for all of its requests.
 */
class ArrivingBodies {
  #refusals = new Set<(cause: string) => void>()
  #timeoutMs: number
  #closingMs: number
  #isClosing = false

  constructor({ timeoutMs = 30_000, closingMs = 1000 }: BodyTimes = {}) {
    this.#timeoutMs = timeoutMs
    this.#closingMs = closingMs
  }

  /** @param body the stream that Fastify reads: that of the request, or one that a hook has made */
  watch({ raw }: FastifyRequest, reply: FastifyReply, body: RequestPayload): void {
    const refuse = (cause: string): void => {
      if (!raw.complete) refuseBody(reply, body, cause)
    }
    const timer = new Timer(() => refuse('the body took too long'))
    timer.set(this.#timeoutMs)
    this.#refusals.add(refuse)
    const stop = () => {
      timer.clear()
      this.#refusals.delete(refuse)
    }
    raw.once('end', stop).once('close', stop)
  }

  /** The closing server waits for connections too, which senders keep open for the next request. */
  endWithReply({ raw }: FastifyRequest, reply: FastifyReply): void {
    // HTTP/2 has no such header. Fastify sets it as well, where a body cannot be read.
    if (raw.httpVersionMajor >= 2) reply.removeHeader('connection')
    else if (this.#isClosing) reply.header('connection', 'close')
  }

  /** Called when the host begins to close. A sender sends a refused request again, to another host. */
  hostCloses(): void {
    this.#isClosing = true
    const cause = 'the host closes, and the body has not arrived'
    this.#timeoutMs = Math.min(this.#timeoutMs, this.#closingMs)
    const refuseAll = () => {
      for (const refuse of this.#refusals) refuse(cause)
    }
    // A busy process first reads what has arrived in the meantime.
    setTimeout(() => setImmediate(refuseAll), this.#closingMs).unref()
  }
}

/** Answers at once, and closes the connection, or the stream of HTTP/2: nothing more of the body is read. */
function refuseBody(reply: FastifyReply, body: RequestPayload, cause: string): void {
  const { raw } = reply.request
  const { stream } = raw as { stream?: ServerHttp2Stream }
  // What has come of the body is dropped: a stream with unread bytes stays open.
  const cut = () => void (stream ? stream.resume().close() : raw.destroy())
  // Answered before its body was read, for instance because it is too large.
  if ((stream ?? reply.raw).writableFinished) return cut()
  reply.raw.once('finish', cut)
  // Without a listener no code reads the body, such as that of a GET, which is answered without it.
  if (body.listenerCount('error') === 0) return
  setTimeout(() => (stream ?? raw).destroy(), ANSWER_READ_WITHIN_MS).unref()
  reply.header('connection', 'close')
  body.emit('error', new BodyTooSlow({ cause }))
}

/** How long a sender may take to read the answer to a body that is refused. */
const ANSWER_READ_WITHIN_MS = 1000
