import { createError } from '@fastify/error'

/** A protected path and no key. The guard's 401. */
export const MissingKey = createError(
  'SVC_AUTH_MISSING_KEY',
  'this path needs an API key, in the header X-API-Key or as Authorization: Bearer',
  401,
)

/** Two headers of a kind, or both kinds with different keys. The guard's 401. */
export const UnclearKey = createError(
  'SVC_AUTH_UNCLEAR_KEY',
  'more than one API key was sent: send one, in one header',
  401,
)

/** The key is unknown, revoked or expired; which of them is told to nobody. The guard's 401. */
export const InvalidKey = createError('SVC_AUTH_INVALID_KEY', 'the API key is not valid', 401)

/** The key holds none of the scopes that the route asks for. The guard's 403. */
export const InsufficientScope = createError<[string]>(
  'SVC_AUTH_INSUFFICIENT_SCOPE',
  'the API key needs one of these scopes: %s',
  403,
)

/** Too many failures with keys of this prefix: see the header `Retry-After`. The guard's 429. */
export const Blocked = createError(
  'SVC_AUTH_BLOCKED',
  'too many failed attempts with API keys of this prefix: try again later',
  429,
)

/** Keys cannot be checked for the moment: see the header `Retry-After`. The guard's 503. */
export const Unavailable = createError(
  'SVC_AUTH_UNAVAILABLE',
  'API keys cannot be checked at the moment: try again shortly',
  503,
)

export const UserNotFound = createError('SVC_AUTH_USER_NOT_FOUND', 'there is no such user', 404)

/** No such key, or it is revoked already. */
export const KeyNotFound = createError('SVC_AUTH_KEY_NOT_FOUND', 'there is no such active key', 404)

export const EmailTaken = createError(
  'SVC_AUTH_EMAIL_TAKEN',
  'there is a user with this email already',
  409,
)

export const ExpiryInPast = createError(
  'SVC_AUTH_EXPIRY_IN_PAST',
  'expiresAt must be a time in the future',
  400,
)

/** A time that four digits of a year cannot write. */
export const ExpiryTooLate = createError(
  'SVC_AUTH_EXPIRY_TOO_LATE',
  'expiresAt must be at most 9999-12-31T23:59:59Z, in UTC; null means that the key never expires',
  400,
)

/** A leap second, or a time that is none. */
export const InvalidExpiry = createError(
  'SVC_AUTH_INVALID_EXPIRY',
  'expiresAt must be a time such as "2030-01-31T12:00:00Z" that exists',
  400,
)

/** A scope that is neither built in nor declared with the option `scopes`. */
export const UnknownScope = createError<[string, string]>(
  'SVC_AUTH_UNKNOWN_SCOPE',
  'there is no scope "%s"; there are: %s',
  400,
)

/** A caller without `admin` wanted to grant a scope that it does not hold itself. */
export const UngrantableScope = createError<[string]>(
  'SVC_AUTH_UNGRANTABLE_SCOPE',
  'these scopes can only be granted by a key that holds them, or admin: %s',
  403,
)

/** A route asks for something in `config.scopes` that is not a declared scope. Thrown at boot. */
export const InvalidRouteScopes = createError<[string, string]>(
  'SVC_AUTH_INVALID_ROUTE_SCOPES',
  'svcAuth: the route %s has a "config.scopes" that cannot be met: %s',
  500,
)

/** An exclusion with a wildcard reaches into management paths. Thrown at boot. */
export const ExclusionOpensManagement = createError<[string, string]>(
  'SVC_AUTH_EXCLUSION_OPENS_MANAGEMENT',
  'svcAuth: the exclusion "%s" in the option "excludePaths" has paths in common with the management path "%s", which a wildcard cannot open: exclude narrower paths, or list the paths that need a key in "protectedPaths"',
  500,
)

/** `svcAuth` was registered before in this host. Thrown at boot. */
export const AuthAlreadyRegistered = createError(
  'SVC_AUTH_ALREADY_REGISTERED',
  'svcAuth is registered already in this host: register it once',
  500,
)

/** An `onRequest` hook would run, and could answer, before the guard. Thrown at boot. */
export const HookBeforeGuard = createError<[string, string]>(
  'SVC_AUTH_HOOK_BEFORE_GUARD',
  'svcAuth: on %s the onRequest hook %s runs before the guard: register it after svcAuth, or, if it may answer unauthenticated requests, list its name in the option "hooksBeforeGuard"',
  500,
)

/** A route or a 404 handler that the guard does not reach. Thrown at boot. */
export const Unguarded = createError<[string]>(
  'SVC_AUTH_UNGUARDED',
  'svcAuth: the guard does not reach %s: register svcAuth on the root instance, or in the one plugin that all routes are registered in; a plugin that only registers svcAuth must be exported with fastify-plugin (or have the property Symbol.for("skip-override") set to true)',
  500,
)

/** This Fastify cannot be asked for all routes and their hooks. Thrown at boot. */
export const Unprovable = createError<[string]>(
  'SVC_AUTH_UNPROVABLE',
  'svcAuth: Fastify %s does not show its routes and hooks in the way that svcAuth knows, so nothing proves that the guard comes first: use another version',
  500,
)

/** `@fastify/request-context` was registered where the guard cannot write to it. Thrown at boot. */
export const RequestContextTooLate = createError(
  'SVC_AUTH_REQUEST_CONTEXT_TOO_LATE',
  'svcAuth: @fastify/request-context opens its context after the guard, where the keys "auth.*" would be lost: register it before svcAuth, with its hook "onRequest"',
  500,
)
