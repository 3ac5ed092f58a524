import { createError } from '@svc/core/internal'
import type { BodyFault, BodyRefused } from '@svc/providers/internal'

/** The request did not pass the source's `verify`. Only the log has the reason. */
export const NotVerified = createError(
  'SVC_WEBHOOKS_NOT_VERIFIED',
  'the request could not be verified',
  401,
)

/** The content type is JSON, and the body is not JSON. An empty body is not JSON either. */
export const BodyNotJson = createError(
  'SVC_WEBHOOKS_BODY_NOT_JSON',
  'the content type says JSON, but the body is not JSON',
  400,
)

/** A form body has more fields than are read. */
export const TooManyFields = createError<[number]>(
  'SVC_WEBHOOKS_TOO_MANY_FIELDS',
  'a form body may have at most %s fields',
  413,
)

/** The body is longer than `bodyLimitBytes`. */
export const BodyTooLarge = createError('SVC_WEBHOOKS_BODY_TOO_LARGE', 'the body is too large', 413)

/** The body could not be read, for instance because it is shorter than its `Content-Length`. */
export const BodyUnreadable = createError(
  'SVC_WEBHOOKS_BODY_UNREADABLE',
  'the body could not be read',
  400,
)

/** The body did not arrive in time: a slow sender holds a connection and memory. */
export const BodyTooSlow = createError(
  'SVC_WEBHOOKS_BODY_TOO_SLOW',
  'the body did not arrive in time',
  408,
)

/** The header Content-Type is not a media type. */
export const ContentTypeInvalid = createError(
  'SVC_WEBHOOKS_CONTENT_TYPE_INVALID',
  'the header Content-Type is not a media type: send one, for example application/json',
  415,
)

/** The body is compressed, or encoded in another way. */
export const ContentEncodingUnsupported = createError(
  'SVC_WEBHOOKS_CONTENT_ENCODING_UNSUPPORTED',
  'a body with a Content-Encoding is not read: send it as it is, without compression',
  415,
)

/** The text of the body cannot be read by the charset that its header names. */
export const CharsetUnsupported = createError(
  'SVC_WEBHOOKS_CHARSET_UNSUPPORTED',
  'the body cannot be read by the charset that its header Content-Type names: send UTF-8',
  415,
)

/** The request is verified, and its content type is not that of the provider: it could be misread. */
export const ContentTypeUnexpected = createError<[string, { cause: string }]>(
  'SVC_WEBHOOKS_CONTENT_TYPE_UNEXPECTED',
  'the body is not read with this Content-Type: the sender must send %s',
  415,
)

/** The request target has a fragment, which a client never sends. */
export const TargetInvalid = createError(
  'SVC_WEBHOOKS_TARGET_INVALID',
  'the request target has a "#": a URL is sent without its fragment',
  400,
)

/** A GET for which the source's `respond` returned `null`. */
export const NoHandshake = createError(
  'SVC_WEBHOOKS_NO_HANDSHAKE',
  'there is no handshake to answer',
  404,
)

/** The request may be genuine and could not be processed: the sender should try again. */
export const InboundFailed = createError(
  'SVC_WEBHOOKS_INBOUND_FAILED',
  'the request could not be processed, try again later',
  500,
)

/** A secret that a verification needs is not set, or is empty. */
export const SecretMissing = createError<[string]>(
  'SVC_WEBHOOKS_SECRET_MISSING',
  'the secret %s is not set or empty',
  500,
)

type Made = new (...given: [...expected: string[], { cause: string }]) => Error

const OF_BODY: Record<BodyFault, unknown> = {
  'not-json': BodyNotJson,
  'content-type': ContentTypeUnexpected,
  'too-many-fields': TooManyFields,
  charset: CharsetUnsupported,
  encoding: ContentEncodingUnsupported,
}

/** The answer to a body that is not read. */
export function refusalOfBody({ fault, expected, message: cause }: BodyRefused): Error {
  // What a message has no place for would stand at its end.
  return new (OF_BODY[fault] as Made)(...(expected === '' ? [] : [expected]), { cause })
}

const REFUSALS = [NotVerified, NoHandshake, ...(Object.values(OF_BODY) as (typeof NotVerified)[])]

/** Whether an error is an answer to a sender already. */
export const isRefusal = (error: Error): boolean => REFUSALS.some((One) => error instanceof One)
