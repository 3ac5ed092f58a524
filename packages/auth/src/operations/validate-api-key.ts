import { Unavailable } from '../errors.ts'
import { isRejection } from '../guard/keys/key-cache.ts'
import type { Recognizer } from '../guard/keys/authenticator.ts'
import { digestOf } from '../key-format.ts'
import type { Validation } from '../schemas.ts'

const INVALID: Validation = {
  valid: false,
  userId: null,
  bootstrap: false,
  scopes: [],
  keyId: null,
}

export function createKeyValidation(recognizer: Recognizer) {
  return {
    async validateApiKey(rawKey: unknown): Promise<Validation> {
      if (typeof rawKey !== 'string') return { ...INVALID, scopes: [] }
      const finding = await recognizer.find(rawKey, digestOf(rawKey)).catch(() => {
        throw new Unavailable()
      })
      if (isRejection(finding)) return { ...INVALID, scopes: [] }
      return { valid: true, ...finding.auth, scopes: [...finding.auth.scopes] }
    },
  }
}
