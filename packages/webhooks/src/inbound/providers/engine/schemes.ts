/** A compiled scheme, of whatever kind. */
import type { Scheme } from '../preset.ts'
import type { Fetching } from './certificates.ts'
import { jwtScheme } from './jwt.ts'
import type { Reading } from './reading.ts'
import { signatureScheme } from './signature.ts'
import { basicScheme, tokenScheme } from './tokens.ts'

export interface With {
  secret: string
  secretName: string
  /** That of the host instead of that of the row. */
  toleranceSeconds?: number | undefined
  fetching: Fetching
}

export interface CompiledScheme {
  /** Whether the request meets the conditions of the scheme. */
  when(reading: Reading): boolean
  /** Whether the request carries what the scheme verifies. */
  isPresent(reading: Reading): boolean
  /** Whether the request is genuine; where it is not, the reason is recorded. Throws where nothing can be said. */
  verify(reading: Reading, given: With): Promise<boolean>
}

export function compileScheme(scheme: Scheme): CompiledScheme {
  switch (scheme.algorithm) {
    case 'jwt':
      return jwtScheme(scheme)
    case 'token':
      return tokenScheme(scheme)
    case 'basic':
      return basicScheme(scheme)
    default:
      return signatureScheme(scheme)
  }
}
