import '@svc/core/node-version'
// The declarations of these (`request.auth`, `svc.auth`, the actions, the context keys) reach a host
// only through an import that the compiler keeps.
import './operations/svc-auth.ts'
import './guard/guard.ts'
import './guard/request-context.ts'

export { svcAuth, svcAuth as default } from './plugin.ts'
export { authOf } from './guard/guard.ts'
export type { SvcAuthOptions } from './options.ts'
export type { ActingFor, AuthOperations } from './operations/svc-auth.ts'
export type { Limit, Plan, Quota, QuotaPeriod } from './limit-fields.ts'
export type { PlanOf } from './limits/plans.ts'
export type { RateLimit } from './tables/lockouts.ts'
export type { GithubKey } from './github-alerts.ts'
export type { Auth } from './guard/keys/key-cache.ts'
export { BUILT_IN_SCOPES, type Scope } from './scopes.ts'
export type {
  ApiKey,
  CheckedKey,
  CreatedApiKey,
  ImportedKey,
  ImportResult,
  KeyCheck,
  KeyFilter,
  LimitUsage,
  ListedApiKey,
  NearLimits,
  NearLimitsQuery,
  KeyRotation,
  KeyState,
  KeyUpdate,
  NewApiKey,
  NewUser,
  Page,
  TenantOfAuth,
  TenantPage,
  Usage,
  UsageQuery,
  User,
  UserFilter,
  Validation,
  Verification,
  Verified,
} from './schemas.ts'
export {
  AmbiguousCredentials,
  AuthAlreadyRegistered,
  AuthUnavailable,
  AlreadyRotated,
  Blocked,
  EmailTaken,
  ExclusionOpensManagement,
  ExpiryInPast,
  ExpiryTooLate,
  GuardNotGlobal,
  HookBeforeGuard,
  InvalidAlert,
  InvalidAlertSignature,
  InsufficientScope,
  InvalidExpiry,
  InvalidForwardedRequest,
  UnknownForwardedScope,
  InvalidKey,
  InvalidNetwork,
  InvalidRole,
  InvalidRouteCost,
  InvalidRouteScopes,
  InvalidUsageSpan,
  IpNotAllowed,
  KeyLimitReached,
  LifetimeTooLong,
  KeyNotFound,
  MissingKey,
  NotGrantable,
  PlanUnknown,
  OperatorOnly,
  QuotaExceeded,
  RateLimited,
  RequestContextTooLate,
  ScopeNotGrantable,
  UnknownScope,
  UnsupportedFastify,
  UserNotFound,
} from './errors.ts'
