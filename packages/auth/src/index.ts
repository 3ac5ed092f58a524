import '@svc/core/node-version'
// What these declare for others (`request.auth`, the actions, the context keys) reaches a host only
// through a line that the compiler keeps.
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
export * from './errors.ts'
