/** The option `errorBody`: the host's shape of the bodies of our answers. */
import type { FastifyRequest } from 'fastify'
import { kindOf } from '../options/check-options.ts'

/** The content of an error answer: its body without the option `errorBody`. */
export interface ErrorAnswer {
  statusCode: number
  /** `SVC_…` */
  code: string
  /** The text of the status; `insufficient permissions` for a 403 of the guard. */
  error: string
  /** Tells no internal detail, also of a 5xx. */
  message: string
  /** Of `SVC_WEBHOOKS_CURSOR_EXPIRED` alone: the cursor to go on after. */
  oldest?: string
}

/**
 * Returns what the answer's body is to be, which is written as JSON. It may not be asynchronous.
 *
 * @example
 * const errorBody: ShapeErrorBody = ({ code, message }, request) => ({
 *   errors: [{ code, title: message, request: request.id }],
 * })
 */
export type ShapeErrorBody = (error: ErrorAnswer, request: FastifyRequest) => unknown

export type ErrorText = (answer: ErrorAnswer, request: FastifyRequest) => string

interface Log {
  error(details: object, message: string): void
}

const LOG_EVERY_MS = 60_000

/**
 * The host's bodies. Where its function throws, or returns what JSON cannot write, the answer has
 * our own body. That is logged at most once a minute, since any client can cause a 401.
 */
export function createErrorText(
  shape: ShapeErrorBody,
  log: Log,
  nowMs: () => number = () => performance.now(),
): ErrorText {
  let loggedMs = -Infinity
  return (answer, request) => {
    try {
      // A copy: the guard's answers are shared by all requests.
      return textOf(shape({ ...answer }, request))
    } catch (err) {
      if (nowMs() - loggedMs >= LOG_EVERY_MS) {
        loggedMs = nowMs()
        log.error(
          { err, code: answer.code },
          'the option errorBody failed; the default error body was sent',
        )
      }
      return JSON.stringify(answer)
    }
  }
}

function textOf(body: unknown): string {
  const text = body instanceof Promise ? undefined : (JSON.stringify(body) as string | undefined)
  if (body instanceof Promise) void body.catch(() => {})
  if (text !== undefined) return text
  const got = body instanceof Promise ? 'a promise' : kindOf(body)
  throw new TypeError(`errorBody must return what JSON can write, got ${got}`)
}
