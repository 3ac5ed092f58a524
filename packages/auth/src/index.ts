import '@svc/core/node-version'
// The declarations of these (`request.auth`, `svc.auth`, the actions, the context keys) reach a host
// only through an import that the compiler keeps.
import './operations/named-actions.ts'
import './operations/svc-auth.ts'
import './guard/guard.ts'
import './guard/request-context.ts'

export { svcAuth, svcAuth as default } from './plugin.ts'
export type { SvcAuthOptions } from './options.ts'
export type { AuthOperations } from './operations/svc-auth.ts'
export type { RateLimit } from './tables/lockouts.ts'
export type { Auth } from './guard/keys/cached-key.ts'
export type { Scope } from './scopes.ts'
export type {
  ApiKey,
  CreatedApiKey,
  NewApiKey,
  NewUser,
  Page,
  User,
  Validation,
} from './schemas.ts'
export {
  AmbiguousCredentials,
  AuthAlreadyRegistered,
  Blocked,
  EmailTaken,
  ExclusionOpensManagement,
  ExpiryInPast,
  ExpiryTooLate,
  GuardNotGlobal,
  HookBeforeGuard,
  InsufficientScope,
  InvalidExpiry,
  InvalidKey,
  InvalidRouteScopes,
  KeyNotFound,
  MissingKey,
  RequestContextTooLate,
  ScopeNotGrantable,
  Unavailable,
  UnknownScope,
  UnsupportedFastify,
  UserNotFound,
} from './errors.ts'
