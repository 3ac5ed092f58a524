import { InvalidOption } from '@svc/core'
import type { Core } from '@svc/core/internal'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { warnWhereGuarded } from './guard-warning.ts'
import { tellOutcome } from './outcome.ts'
import { readRawBodies } from './raw-body.ts'
import { receive, receiveGet, type Receipt } from './receive.ts'
import { refuserOf } from './refuse.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

export interface InboundSettings {
  /** Longest body that is read, in bytes. */
  bodyLimitBytes: number
}

/** Serves the sources in a context of their own: nothing of it touches the host's parsers and errors. */
export function registerInbound(
  app: FastifyInstance,
  core: Core,
  sources: Source[],
  { bodyLimitBytes }: InboundSettings,
): void {
  if (sources.length === 0) return
  warnWhereGuarded(app, sources)
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
  const errorHandler = refuserOf(source.name)
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

function answer(reply: FastifyReply, source: Source, receipt: Receipt): FastifyReply {
  tellOutcome(source.name, receipt.outcome)
  if (receipt.outcome !== 'answered') {
    const { outcome: status, ...rest } = receipt
    return sendAs(reply, 'application/json; charset=utf-8', JSON.stringify({ status, ...rest }))
  }
  const { statusCode = 200, headers = {}, body } = receipt.reply
  // A handshake echoes what a stranger has sent: no browser may take it for a page.
  reply.code(statusCode).header('x-content-type-options', 'nosniff').headers(headers)
  if (body === undefined) return reply.send()
  return typeof body === 'string'
    ? sendAs(reply, 'text/plain; charset=utf-8', body)
    : sendAs(reply, 'application/json; charset=utf-8', JSON.stringify(body))
}

/** As text, also where that is JSON: a serializer that the host has set knows nothing of our bodies. */
function sendAs(reply: FastifyReply, type: string, text: string): FastifyReply {
  if (!reply.hasHeader('content-type')) reply.type(type)
  return reply.send(text)
}
