import { createError } from '@svc/core/internal'

/**
 * A protected path and no key. The guard's 401.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7235#section-3.1
 */
export const MissingKey = createError(
  'SVC_AUTH_MISSING_KEY',
  'this path needs an API key, in the header X-API-Key or as Authorization: Bearer',
  401,
)

/** Two headers of a kind, or both kinds with different keys. The guard's 401. */
export const AmbiguousCredentials = createError(
  'SVC_AUTH_AMBIGUOUS_CREDENTIALS',
  'more than one API key was sent: send one, in one header',
  401,
)

/**
 * The key is unknown, revoked, disabled or expired; only the log has the reason. The guard's 401.
 */
export const InvalidKey = createError('SVC_AUTH_INVALID_KEY', 'the API key is not valid', 401)

/** The key holds none of the scopes that the route needs. The guard's 403. */
export const InsufficientScope = createError<[string]>(
  'SVC_AUTH_INSUFFICIENT_SCOPE',
  'the API key needs one of these scopes: %s',
  403,
)

/** The request came from outside of the networks that the key may be used from. The guard's 403. */
export const IpNotAllowed = createError(
  'SVC_AUTH_IP_NOT_ALLOWED',
  'the API key may not be used from this address',
  403,
)

/** A header in which a proxy names the forwarded request is missing or doubled. */
export const InvalidForwardedRequest = createError<[string]>(
  'SVC_AUTH_INVALID_FORWARDED_REQUEST',
  'the header %s must be sent once, with the method or the URI of the request that is asked about',
  403,
)

/** A proxy asked for a scope that the host has not declared: no key could have it. */
export const UnknownForwardedScope = createError<[string]>(
  'SVC_AUTH_UNKNOWN_FORWARDED_SCOPE',
  'the path /forward-auth/… names the scope "%s", which does not exist: declare it in the option "scopes"',
  403,
)

/** Too many failed attempts with keys of this prefix: see the header `Retry-After`. The guard's 429. */
export const Blocked = createError(
  'SVC_AUTH_BLOCKED',
  'too many failed attempts with API keys of this prefix: try again later',
  429,
)

/** The key, or its tenant, has made as many requests as its limits allow. The guard's 429. */
export const RateLimited = createError(
  'SVC_AUTH_RATE_LIMITED',
  'too many requests with this API key: see the headers Retry-After and RateLimit',
  429,
)

/** The quota of the key is used up; `Retry-After` names the end of its period. The guard's 429. */
export const QuotaExceeded = createError(
  'SVC_AUTH_QUOTA_EXCEEDED',
  'the quota of this API key is used up',
  429,
)

/**
 * The guard's 503: `planOf` gave no plan of the tenant, and no earlier answer or plan `default` stands in. See the
 * header `Retry-After`.
 */
export const PlanUnknown = createError(
  'SVC_AUTH_PLAN_UNKNOWN',
  'the plan of this tenant is not known at the moment: try again shortly',
  503,
)

/** Keys cannot be checked at the moment: see the header `Retry-After`. The guard's 503. */
export const AuthUnavailable = createError(
  'SVC_AUTH_UNAVAILABLE',
  'API keys cannot be checked at the moment: try again shortly',
  503,
)

/** There is no user with this id, or it is not a UUID. */
export const UserNotFound = createError('SVC_AUTH_USER_NOT_FOUND', 'there is no such user', 404)

/** There is no key with this id, or it is revoked already. */
export const KeyNotFound = createError('SVC_AUTH_KEY_NOT_FOUND', 'there is no such active key', 404)

/** Another user has this email. Case does not distinguish two emails. */
export const EmailTaken = createError(
  'SVC_AUTH_EMAIL_TAKEN',
  'there is a user with this email already',
  409,
)

/** `expiresAt` is now or earlier. */
export const ExpiryInPast = createError(
  'SVC_AUTH_EXPIRY_IN_PAST',
  'expiresAt must be a time in the future',
  400,
)

/** `expiresAt` is after the year 9999, which ISO 8601 cannot write with four digits. */
export const ExpiryTooLate = createError(
  'SVC_AUTH_EXPIRY_TOO_LATE',
  'expiresAt must be at most 9999-12-31T23:59:59Z, in UTC; null means that the key never expires',
  400,
)

/** `expiresAt` is a leap second, or another time that does not exist in JavaScript. */
export const InvalidExpiry = createError(
  'SVC_AUTH_INVALID_EXPIRY',
  'expiresAt must be a time such as "2030-01-31T12:00:00Z" that exists',
  400,
)

/** `expiresAt` is later than the option `maxKeyLifetimeDays` allows. */
export const LifetimeTooLong = createError<[string]>(
  'SVC_AUTH_LIFETIME_TOO_LONG',
  'expiresAt must be at most %s days after the key is made',
  400,
)

/** A scope that is neither built in nor declared with the option `scopes`. */
export const UnknownScope = createError<[string, string]>(
  'SVC_AUTH_UNKNOWN_SCOPE',
  'there is no scope "%s"; there are: %s',
  400,
)

/** A caller without `admin` tried to grant a scope that it does not hold itself. */
export const ScopeNotGrantable = createError<[string]>(
  'SVC_AUTH_SCOPE_NOT_GRANTABLE',
  'these scopes can only be granted by a key that holds them, or admin: %s',
  403,
)

/**
 * A caller tried to give a key more than it has itself, such as a later expiry or more addresses, or a
 * session without a key to loosen what others have set on one.
 */
export const NotGrantable = createError<[string]>(
  'SVC_AUTH_NOT_GRANTABLE',
  'the caller can give no key more than it has itself or by the plan of its tenant, nor loosen what an operator has set: %s',
  403,
)

/** The key was rotated already: only its successor can be rotated, or end later. */
export const AlreadyRotated = createError<[string]>(
  'SVC_AUTH_ALREADY_ROTATED',
  'the key was rotated already and ends with its overlap: take its successor, %s, or revoke that first',
  409,
)

/** The tenant has as many keys as the option `maxKeysPerTenant`, or `maxKeys` of its plan, allows. */
export const KeyLimitReached = createError<[string]>(
  'SVC_AUTH_LIMIT_REACHED',
  'a tenant has at most %s keys that are neither revoked nor expired: revoke one first',
  409,
)

/** A caller with a tenant asked for what is the operator's, such as an import of keys. */
export const OperatorOnly = createError(
  'SVC_AUTH_OPERATOR_ONLY',
  "this is the operator's: a key with a tenant cannot do it",
  403,
)

/** An element of `allowedIps` is neither a network nor an address. */
export const InvalidNetwork = createError<[string]>(
  'SVC_AUTH_INVALID_NETWORK',
  'allowedIps must be a list of CIDRs such as "192.0.2.0/24" or "2001:db8::/32", or of single addresses such as "192.0.2.7", but has "%s"',
  400,
)

/** An alert of a leak that GitHub has not signed. */
export const InvalidAlertSignature = createError(
  'SVC_AUTH_INVALID_ALERT_SIGNATURE',
  'the alert is not signed with a key of GitHub',
  401,
)

/** An alert of a leak that is no list of tokens. */
export const InvalidAlert = createError(
  'SVC_AUTH_INVALID_ALERT',
  'an alert is a list of { token, type, url }',
  400,
)

/** A route has a scope in `config.scopes` that is not declared. Thrown at boot. */
export const InvalidRouteScopes = createError<[string, string]>(
  'SVC_AUTH_INVALID_ROUTE_SCOPES',
  'svcAuth: the route %s has a "config.scopes" that cannot be met: %s',
  500,
)

/** A route has a `config.cost` that is no whole number. Thrown at boot. */
export const InvalidRouteCost = createError<[string, string]>(
  'SVC_AUTH_INVALID_ROUTE_COST',
  'svcAuth: the route %s has the "config.cost" %s, but it must be an integer from 0 to 1000000',
  500,
)

/** The requested span of usage is empty or too long. */
export const InvalidUsageSpan = createError<[string]>(
  'SVC_AUTH_INVALID_USAGE_SPAN',
  '"from" must be before "to", and at most %s hours or days before it, as "by" says',
  400,
)

/** A role of the option `roles` has a scope that is not declared. Thrown at boot. */
export const InvalidRole = createError<[string, string]>(
  'SVC_AUTH_INVALID_ROLE',
  'svcAuth: the role "%s" in the option "roles" has the scope "%s", which is neither built in nor declared in the option "scopes"',
  500,
)

/** An exclusion with a wildcard has management paths below it. Thrown at boot. */
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
export const HookBeforeGuard = createError<[string, string, string, string]>(
  'SVC_AUTH_HOOK_BEFORE_GUARD',
  'svcAuth: on %s the onRequest hook %s runs before the guard. It is %s. Register it after svcAuth, or, if it may answer requests without a key, write among the options of svcAuth (theFunction stands for a function without a name): %s',
  500,
)

/** The guard does not reach a route or a 404 handler. Thrown at boot. */
export const GuardNotGlobal = createError<[string]>(
  'SVC_AUTH_GUARD_NOT_GLOBAL',
  'svcAuth: the guard does not reach %s: register svcAuth on the root instance, or in the one plugin that all routes are registered in; a plugin that only registers svcAuth must be exported with fastify-plugin (or have the property Symbol.for("skip-override") set to true)',
  500,
)

/** This version of Fastify does not show its routes and hooks, so they cannot be checked. Thrown at boot. */
export const UnsupportedFastify = createError<[string]>(
  'SVC_AUTH_UNSUPPORTED_FASTIFY',
  'svcAuth: Fastify %s does not show its routes and hooks in the way that svcAuth reads them, so it cannot check that the guard runs first: use another version',
  500,
)

/** `@fastify/request-context` was registered where the guard cannot write to it. Thrown at boot. */
export const RequestContextTooLate = createError(
  'SVC_AUTH_REQUEST_CONTEXT_TOO_LATE',
  'svcAuth: @fastify/request-context opens its context after the guard, where the keys "auth.*" would be lost: register it before svcAuth, with its hook "onRequest"',
  500,
)
