import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Unavailable } from '@svc/core'
import {
  BodyNotJson,
  BodyTooLarge,
  BodyUnreadable,
  ContentTypeInvalid,
  InboundFailed,
  NoHandshake,
  NotVerified,
  TooManyFields,
} from './errors.ts'
import { tellOutcome, type InboundOutcome } from './outcome.ts'

interface Refusal extends Error {
  code: string
  statusCode?: number
}

const OURS = [
  BodyNotJson,
  BodyTooLarge,
  BodyUnreadable,
  ContentTypeInvalid,
  InboundFailed,
  NoHandshake,
  NotVerified,
  TooManyFields,
  Unavailable,
]

/**
 * The error handler of a source's routes: one line in the log, one body for the sender. What a hook
 * of the host has thrown is passed on to the host's own error handler.
 */
export function refuserOf(source: string) {
  return (error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const refusal = asRefusal(error)
    if (!refusal) throw error
    const statusCode = refusal.statusCode ?? 500
    log(request, source, refusal, statusCode)
    tellOutcome(source, outcomeOf(statusCode))
    if (statusCode === 503) reply.header('retry-after', '1')
    if (statusCode === 401) reply.header('www-authenticate', 'Bearer')
    const { code, message } = refusal
    // Written here and not by a serializer: a host's own does not know our bodies.
    return reply
      .code(statusCode)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ statusCode, code, error: STATUS_CODES[statusCode], message }))
  }
}

function asRefusal(error: Error): Refusal | undefined {
  const { code } = error as Refusal
  if (OURS.some((Ours) => error instanceof Ours)) return error as Refusal
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new BodyTooLarge({ cause: code })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new ContentTypeInvalid({ cause: code })
  if (code?.startsWith('FST_ERR_CTP_')) return new BodyUnreadable({ cause: code })
  return undefined
}

function outcomeOf(statusCode: number): InboundOutcome['outcome'] {
  if (statusCode >= 500) return 'failed'
  return statusCode === 401 || statusCode === 404 ? 'refused' : 'malformed'
}

/** Why stands here and nowhere else: whoever forges a request learns nothing from the answer. */
function log(request: FastifyRequest, source: string, refusal: Refusal, statusCode: number): void {
  const { cause } = refusal
  if (statusCode < 500) {
    request.log.warn({ source, reason: cause, statusCode }, 'inbound webhook refused')
    return
  }
  const { message = String(cause), stack, code } = (cause ?? {}) as Partial<Refusal>
  // Not the error itself: a database's holds the row, and with it the payload.
  request.log.error({ source, reason: message, code, stack, statusCode }, 'inbound webhook failed')
}
