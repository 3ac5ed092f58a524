import type { FastifyReply, FastifyRequest } from 'fastify'
import { Unavailable } from '@svc/core'
import { statusText, type ErrorText } from '@svc/core/internal'
import { HostMistake } from '@svc/providers/internal'
import {
  BodyTooLarge,
  BodyTooSlow,
  BodyUnreadable,
  ContentEncodingUnsupported,
  ContentTypeInvalid,
  InboundFailed,
  isRefusal,
  SecretMissing,
  TargetInvalid,
} from './errors.ts'
import { Inbound, NotAnError } from './inbound.ts'
import { outcomeOf, publishOutcome, type InboundTelemetry } from './inbound-telemetry.ts'
import { PerSecond, type RequestLog } from './request-log.ts'
import type { InboundRequest } from './source.ts'
import type { Source } from './sources.ts'

interface Answerable extends Error {
  code: string
  statusCode?: number
}

/** Those that are thrown before and after the steps of receive.ts, or by them for a fault of ours. */
const OTHERS = [
  BodyTooLarge,
  BodyTooSlow,
  BodyUnreadable,
  ContentTypeInvalid,
  TargetInvalid,
  InboundFailed,
  Unavailable,
]

/**
 * Makes the error handler of a source's routes: it writes one log line and answers the sender. An
 * error that a hook of the host has thrown goes to the host's own error handler.
 */
export function createErrorHandler(
  source: Source,
  requestLog: RequestLog | null,
  errorText: ErrorText | null,
  telemetry: InboundTelemetry | undefined,
) {
  // Any client can cause failures before the verification: one logged stack a second is enough to
  // find the reason.
  const stacks = new PerSecond(1)
  return (error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const own = ownError(error)
    if (!own) throw error
    const statusCode = own.statusCode ?? 500
    const began = performance.now() - reply.elapsedTime
    const inbound = Inbound.of(source, request as InboundRequest, began)
    const hasStack = statusCode >= 500 && (inbound.isVerified || stacks.allows('unverified'))
    log(request, source.name, own, statusCode, hasStack)
    publishOutcome(source.name, outcomeOf(statusCode))
    telemetry?.count(source.name, outcomeOf(statusCode), reply)
    const outcome = statusCode >= 500 ? 'failed' : 'refused'
    requestLog?.note(inbound, outcome, reasonOf(own, inbound))
    if (statusCode === 503) reply.header('retry-after', '1')
    if (statusCode === 401) reply.header('www-authenticate', 'Bearer')
    // RFC 9110, section 15.5.16: what the sender may try instead.
    if (own instanceof ContentEncodingUnsupported) reply.header('accept-encoding', 'identity')
    if (source.emptyErrors) return reply.code(statusCode).send()
    const { code, message } = own
    const body = { statusCode, code, error: statusText(statusCode), message }
    // Serialized by us: a serializer that the host has set is not made for our bodies.
    return reply
      .code(statusCode)
      .type('application/json; charset=utf-8')
      .send(errorText ? errorText(body, request) : JSON.stringify(body))
  }
}

/** Undefined for an error that is neither ours nor one of Fastify's body parsers. */
function ownError(error: Error): Answerable | undefined {
  const { code } = error as Answerable
  const isOurs = isRefusal(error) || OTHERS.some((Other) => error instanceof Other)
  if (isOurs) return error as Answerable
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new BodyTooLarge({ cause: 'SVC_WEBHOOKS_BODY_TOO_LARGE' })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new ContentTypeInvalid({ cause: code })
  if (code?.startsWith('FST_ERR_CTP_')) return new BodyUnreadable({ cause: code })
  return undefined
}

/**
 * The reason for the log. Of an error of a database it is only the error's code, of one of the host's
 * own code also which function threw it.
 */
function reasonOf({ cause, code }: Answerable, inbound: Inbound): string {
  if (typeof cause === 'string') return cause
  if (!(cause instanceof Error)) return code
  const codes = [code, Reflect.get(cause, 'code') ?? []].flat().map(String)
  // Other messages may quote the payload.
  const isOurs = cause instanceof HostMistake || cause instanceof SecretMissing
  const thrower = inbound.throwerOf(cause)
  const words = isOurs
    ? [cause.message]
    : thrower === undefined
      ? []
      : [`${thrower} threw ${thrownKind(cause)}`]
  return [...codes, ...words].join(': ')
}

const thrownKind = (error: Error): string =>
  error instanceof NotAnError ? `a value of type ${error.type}, not an Error` : 'an error'

/** Only the log has the reason, so that the answer does not help an attacker. */
function log(
  request: FastifyRequest,
  source: string,
  error: Answerable,
  statusCode: number,
  hasStack: boolean,
): void {
  const { cause } = error
  if (statusCode < 500) {
    request.log.warn({ source, reason: cause, statusCode }, 'inbound webhook refused')
    return
  }
  const { message = String(cause), stack, code } = (cause ?? {}) as Partial<Answerable>
  // Not the error itself: that of a database may hold the row, and with it the payload.
  request.log.error(
    { source, reason: message, code, ...(hasStack && { stack }), statusCode },
    'inbound webhook failed',
  )
}
