/** A compiled scheme, of whatever kind. */
import type { Scheme } from '../preset-schemes.ts'
import type { Preset } from '../preset.ts'
import type { Fetching } from './certificates.ts'
import { jwtScheme } from './jwt.ts'
import type { Reading } from './request-places.ts'
import { signatureScheme } from './signature.ts'
import { basicScheme, tokenScheme } from './tokens.ts'

export interface With {
  secret: string
  secretName: string
  /** The tolerance that the host sets, instead of the row's. */
  toleranceSeconds?: number | undefined
  fetching: Fetching
}

/**
 * Whether the request is genuine by one secret; where it is not, the reason is recorded. Throws
 * where that cannot be decided. It is a promise only where something is fetched: most requests need
 * no wait.
 */
export type Check = (given: With) => boolean | Promise<boolean>

/** The check of what the request carries; `undefined` where it carries nothing of this scheme. */
export type CompiledScheme = (reading: Reading) => Check | undefined

/** @throws TypeError for a scheme that could be read in two ways */
export function compileScheme(scheme: Scheme, preset: Preset): CompiledScheme {
  switch (scheme.algorithm) {
    case 'jwt':
      return jwtScheme(scheme)
    case 'token':
      return tokenScheme(scheme)
    case 'basic':
      return basicScheme(scheme)
    default:
      return signatureScheme(scheme, preset)
  }
}
