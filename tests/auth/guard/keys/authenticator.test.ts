import t from 'tap'
import {
  Authenticator,
  type AuthenticatorParts,
} from '../../../../packages/auth/src/guard/keys/authenticator.ts'
import { CannotDecide, UNKNOWN_KEY } from '../../../../packages/auth/src/guard/auth-failure.ts'
import { KeyCache } from '../../../../packages/auth/src/guard/keys/key-cache.ts'
import { TokenBucket } from '../../../../packages/auth/src/guard/keys/token-bucket.ts'
import { generateKey, hashOf } from '../../../../packages/auth/src/key-format.ts'

t.test(
  'failed attempts beyond those that may be counted are no answer about the key',
  async (t) => {
    let counted = 0
    const failures = new TokenBucket(2, 0)
    const recordFailure = async () => {
      counted++
      return 0
    }
    const authenticator = new Authenticator({
      keyCache: new KeyCache(async () => UNKNOWN_KEY),
      lease: { isHeld: () => true },
      bootstrapKey: { tryRead: async () => {}, matches: () => false },
      failures: { wellFormed: failures },
      lockout: { blockedForMs: () => 0, recordFailure },
      plans: null,
    } as unknown as AuthenticatorParts)
    const attempt = (key = generateKey()) => authenticator.authenticate(key, hashOf(key))
    t.equal(await attempt(), UNKNOWN_KEY)
    t.equal(await attempt(), UNKNOWN_KEY)
    await t.rejects(attempt(), new CannotDecide('too many failed attempts to count'))
    t.equal(counted, 2)
  },
)
