/** The error of a sign-in with a key that the guard refuses. */
import { AddressRefused, KeyNotEnough, KeyRefused, TooManyAttempts } from '../errors.ts'

export function refusalOf(code: string | null): Error {
  switch (code) {
    case 'SVC_AUTH_INSUFFICIENT_SCOPE':
      return new KeyNotEnough()
    case 'SVC_AUTH_IP_NOT_ALLOWED':
      return new AddressRefused()
    case 'SVC_AUTH_BLOCKED':
    case 'SVC_AUTH_RATE_LIMITED':
    case 'SVC_AUTH_QUOTA_EXCEEDED':
      return new TooManyAttempts()
    default:
      return new KeyRefused()
  }
}
