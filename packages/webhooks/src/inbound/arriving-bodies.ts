import type { ServerHttp2Stream } from 'node:http2'
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { BodyTooSlow } from './errors.ts'

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
export class ArrivingBodies {
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
    const timer = setTimeout(refuse, this.#timeoutMs, 'the body took too long')
    timer.unref()
    this.#refusals.add(refuse)
    const stop = () => {
      clearTimeout(timer)
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
