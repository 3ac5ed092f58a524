import { InvalidOption } from '@svc/core'
import { SENT } from '@svc/providers/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createErrorHandler } from './error-handler.ts'
import { TargetInvalid } from './errors.ts'
import { Inbound } from './inbound.ts'
import { publishOutcome, type InboundTelemetry } from './inbound-telemetry.ts'
import { readRawBodies } from './raw-body.ts'
import { receive, receiveGet, type Received, type Receiving } from './receive.ts'
import { textReply, type Reply } from './reply.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

export interface InboundSettings extends Receiving {
  /** Longest body that is read, in bytes. */
  bodyLimitBytes: number
  /** @default nothing is measured */
  telemetry?: InboundTelemetry
}

/** Serves the sources in a context of their own: the parsers and error handlers of the host stay. */
export function registerInbound(
  app: FastifyInstance,
  sources: Source[],
  settings: InboundSettings,
): void {
  if (sources.length === 0) return
  app.register(async (own) => {
    readRawBodies(own)
    own.decorateRequest(SENT, null)
    for (const source of sources) {
      try {
        serve(own, source, settings)
      } catch (error) {
        throw isDuplicate(error) ? pathTaken(source, `${own.prefix}${source.path}`) : error
      }
    }
  })
}

function serve(app: FastifyInstance, source: Source, shared: InboundSettings): void {
  // What requests to one source make it fetch, uses up nothing of another.
  const settings = { ...shared, providerClient: shared.providerClient.apart() }
  const { bodyLimitBytes: bodyLimit, core, log, telemetry } = settings
  // Made once: a body that changes later could not be checked.
  const accepted = source.answer && textReply(source.answer)
  const errorHandler = createErrorHandler(source, log, core.errorText, telemetry)
  const getSecret = (name: string) => core.svc.secrets.get(name)
  type Receive = (receiving: Receiving, inbound: Inbound) => Promise<Received>
  const handler = (receive: Receive) => async (request: FastifyRequest, reply: FastifyReply) => {
    // The URL that is signed and that which is read would differ in it.
    if (request.originalUrl.includes('#')) throw new TargetInvalid({ cause: 'a "#" in the target' })
    const began = performance.now() - reply.elapsedTime
    const inbound = new Inbound(source, request as InboundRequest, getSecret, began)
    const take = () => receive(settings, inbound)
    const received = await (telemetry ? telemetry.trace(source, request, reply, take) : take())
    if (received.outcome === 'answered') log?.note(inbound, 'accepted', 'handshake')
    telemetry?.count(source.name, received.outcome, reply)
    publishOutcome(source.name, received.outcome)
    return answer(reply, received, accepted)
  }
  app.post(source.path, { bodyLimit, errorHandler }, handler(receive))
  if (!source.respond) return
  const asked = {
    url: source.path,
    exposeHeadRoute: false,
    errorHandler,
    handler: handler(receiveGet),
  }
  // Of several methods in one call Fastify before 5.8 passes over a route that is taken.
  app.route({ ...asked, method: 'GET' })
  app.route({ ...asked, method: 'HEAD' })
}

const isDuplicate = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'code') === 'FST_ERR_DUPLICATED_ROUTE'

const pathTaken = ({ name, respond }: Source, url: string): Error =>
  new InvalidOption(
    `svcWebhooks: the option "inbound.${name}.path" must be a path of its own, ${url} has a route for POST${respond ? ' or GET' : ''} already: give the source another path, or remove that route`,
  )

function answer(reply: FastifyReply, received: Received, accepted?: Reply): FastifyReply {
  if (received.outcome === 'answered') return sendReply(reply, received.reply)
  if (accepted) return sendReply(reply, accepted)
  const { outcome: status, ...rest } = received
  return sendAs(reply, 'application/json; charset=utf-8', JSON.stringify({ status, ...rest }))
}

function sendReply(reply: FastifyReply, { statusCode, headers, text, type }: Reply): FastifyReply {
  // A handshake echoes text of the request: a browser must not render it as a page.
  reply.code(statusCode).header('x-content-type-options', 'nosniff').headers(headers)
  return text === undefined ? reply.send() : sendAs(reply, type, text)
}

/** Sends text, also of JSON: a serializer that the host has set is not made for our bodies. */
function sendAs(reply: FastifyReply, type: string, text: string): FastifyReply {
  if (!reply.hasHeader('content-type')) reply.type(type)
  return reply.send(text)
}
