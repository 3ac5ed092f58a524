/**
 * Tells who the holder of a key is, by the text of the key. Unlike verify-key-for-services.ts it
 * checks neither scopes nor addresses, and counts nothing.
 */
import { reaches } from '@svc/core/internal'
import { AuthUnavailable } from '../errors.ts'
import { isFailure } from '../guard/keys/key-cache.ts'
import type { Authenticator } from '../guard/keys/authenticator.ts'
import { hashOf } from '../key-format.ts'
import type { Validation } from '../schemas.ts'
import { reachOfCall, type OperationCall } from './context.ts'

const INVALID: Validation = {
  valid: false,
  userId: null,
  tenant: null,
  bootstrap: false,
  scopes: [],
  keyId: null,
}

export function createKeyValidation(authenticator: Authenticator) {
  return {
    async validateApiKey(rawKey: unknown, call: OperationCall = {}): Promise<Validation> {
      if (typeof rawKey !== 'string') return { ...INVALID, scopes: [] }
      const result = await authenticator.find(rawKey, hashOf(rawKey)).catch(() => {
        throw new AuthUnavailable()
      })
      if (isFailure(result) || !reaches(reachOfCall(call), result.auth.tenant)) {
        return { ...INVALID, scopes: [] }
      }
      return { valid: true, ...result.auth, scopes: [...result.auth.scopes] }
    },
  }
}
