import { InvalidOption } from '@svc/core'
import type { Core } from '@svc/core/internal'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { createErrorHandler } from './error-handler.ts'
import { publishOutcome } from './outcome.ts'
import { readRawBodies } from './raw-body.ts'
import { receive, receiveGet, type Received } from './receive.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

export interface InboundSettings {
  /** Longest body that is read, in bytes. */
  bodyLimitBytes: number
}

/** Serves the sources in a context of their own: the parsers and error handlers of the host stay. */
export function registerInbound(
  app: FastifyInstance,
  core: Core,
  sources: Source[],
  { bodyLimitBytes }: InboundSettings,
): void {
  if (sources.length === 0) return
  app.register(async (inbound) => {
    readRawBodies(inbound)
    for (const source of sources) {
      try {
        serve(inbound, core, source, bodyLimitBytes)
      } catch (error) {
        throw isDuplicate(error) ? pathTaken(source, `${inbound.prefix}${source.path}`) : error
      }
    }
  })
}

function serve(inbound: FastifyInstance, core: Core, source: Source, bodyLimit: number): void {
  const errorHandler = createErrorHandler(source.name)
  inbound.post(source.path, { bodyLimit, errorHandler }, async (request, reply) =>
    answer(reply, source, await receive(core, source, request as InboundRequest)),
  )
  if (!source.respond) return
  inbound.get(source.path, { errorHandler }, async (request, reply) =>
    answer(reply, source, await receiveGet(core, source, request as InboundRequest)),
  )
}

const isDuplicate = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === 'FST_ERR_DUPLICATED_ROUTE'

const pathTaken = ({ name, respond }: Source, url: string): Error =>
  new InvalidOption(
    `svcWebhooks: the option "inbound.${name}.path" must be a path of its own, ${url} has a route for POST${respond ? ' or GET' : ''} already: give the source another path, or remove that route`,
  )

function answer(reply: FastifyReply, source: Source, received: Received): FastifyReply {
  publishOutcome(source.name, received.outcome)
  if (received.outcome !== 'answered') {
    const { outcome: status, ...rest } = received
    return sendAs(reply, 'application/json; charset=utf-8', JSON.stringify({ status, ...rest }))
  }
  const { statusCode = 200, headers = {}, body } = received.reply
  // A handshake echoes text of the request: a browser must not render it as a page.
  reply.code(statusCode).header('x-content-type-options', 'nosniff').headers(headers)
  if (body === undefined) return reply.send()
  return typeof body === 'string'
    ? sendAs(reply, 'text/plain; charset=utf-8', body)
    : sendAs(reply, 'application/json; charset=utf-8', JSON.stringify(body))
}

/** Sends text, also of JSON: a serializer that the host has set does not know our bodies. */
function sendAs(reply: FastifyReply, type: string, text: string): FastifyReply {
  if (!reply.hasHeader('content-type')) reply.type(type)
  return reply.send(text)
}
