import '@svc/core/node-version'
// A host sees `svc.console` only through a line that the compiler keeps.
import './access/portal-links.ts'

export { svcConsole, svcConsole as default } from './plugin.ts'
export type { Access, PayloadOf, SvcConsoleOptions } from './options.ts'
export type { ListedLink, PortalLink, SessionsOf, SvcConsole } from './access/portal-links.ts'
export type { Can } from './rights.ts'
export type { Right } from './rights.ts'
export {
  AddressRefused,
  DeliveryNotFound,
  EventNotFound,
  Forbidden,
  ForeignOrigin,
  InvalidAccess,
  JsonNeeded,
  KeyNotEnough,
  KeyRefused,
  LinkNotFound,
  LinkUsed,
  NoKeySignIn,
  NotSignedIn,
  PageMissing,
  SessionNotFound,
  TooManyAttempts,
  UnknownOperation,
} from './errors.ts'
