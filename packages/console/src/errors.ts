import { createError } from '@svc/core/internal'

/** No session, or one that has ended. */
export const NotSignedIn = createError(
  'SVC_CONSOLE_NOT_SIGNED_IN',
  'the session is missing or has ended: sign in',
  401,
)

/** The session lacks the right that the operation needs. */
export const Forbidden = createError<[string]>(
  'SVC_CONSOLE_FORBIDDEN',
  'this session lacks the right "%s"',
  403,
)

/** A change, or a sign-in, that does not come from a page of the console. */
export const ForeignOrigin = createError<[string]>(
  'SVC_CONSOLE_FOREIGN_ORIGIN',
  'changes are taken from pages of the console alone: %s',
  403,
)

/** An unknown operation. The plugin that it needs may not be registered. */
export const UnknownOperation = createError<[string]>(
  'SVC_CONSOLE_UNKNOWN_OPERATION',
  'there is no operation "%s" in this console',
  404,
)

/** A body that is not JSON. */
export const JsonNeeded = createError(
  'SVC_UNSUPPORTED_MEDIA_TYPE',
  'the content type is not supported: send JSON, with the header Content-Type: application/json',
  415,
)

/** The key is unknown, revoked, expired or disabled. */
export const KeyRefused = createError('SVC_AUTH_INVALID_KEY', 'the key is not valid', 401)

/** The key has no scope that a console is for. */
export const KeyNotEnough = createError(
  'SVC_AUTH_INSUFFICIENT_SCOPE',
  'the key may not use the console: it needs the scope admin, auth:manage or webhooks:manage',
  403,
)

/** The key may not be used from this address. */
export const AddressRefused = createError(
  'SVC_AUTH_IP_NOT_ALLOWED',
  'the key may not be used from this address',
  403,
)

/** Too many failed attempts with this prefix, or a limit of the key is reached. */
export const TooManyAttempts = createError(
  'SVC_CONSOLE_TOO_MANY_ATTEMPTS',
  'too many attempts with this key: try again later',
  429,
)

/** This host does not allow a sign-in with a key. */
export const NoKeySignIn = createError(
  'SVC_CONSOLE_NO_KEY_SIGN_IN',
  'keys are not taken here: sign in where the application has its login',
  403,
)

/** The result of the option `access`, or an argument of `portalLink`, is wrong. */
export const InvalidAccess = createError<[string]>('SVC_CONSOLE_INVALID_ACCESS', '%s', 500)

/** A link of the portal that was used, has expired, or never was one. */
export const LinkUsed = createError(
  'SVC_CONSOLE_LINK_USED',
  'this link has been used or has expired: ask for a new one',
  410,
)

/** There is no such link: it was followed or withdrawn, or has expired. */
export const LinkNotFound = createError(
  'SVC_CONSOLE_LINK_NOT_FOUND',
  'there is no such link: it was followed or withdrawn, or has expired',
  404,
)

/** There is no such session. */
export const SessionNotFound = createError(
  'SVC_CONSOLE_SESSION_NOT_FOUND',
  'there is no such session',
  404,
)

/** The event is not kept, or never was published. */
export const EventNotFound = createError(
  'SVC_CONSOLE_EVENT_NOT_FOUND',
  'there is no such event: it was never published, or is kept no longer',
  404,
)

/** There is no such delivery of this webhook in the log, and no dead letter. */
export const DeliveryNotFound = createError(
  'SVC_CONSOLE_DELIVERY_NOT_FOUND',
  'there is no such delivery: it was never made, or is kept no longer',
  404,
)

/** The built page is missing. Thrown at boot. */
export const PageMissing = createError<[string]>(
  'SVC_CONSOLE_PAGE_MISSING',
  'svcConsole: the built page is not in %s: build it with "pnpm --filter @svc/console prepack"',
  500,
)
