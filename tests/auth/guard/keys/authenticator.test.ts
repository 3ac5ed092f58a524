import t from 'tap'
import {
  Authenticator,
  type AuthenticatorParts,
} from '../../../../packages/auth/src/guard/keys/authenticator.ts'
import { CannotDecide } from '../../../../packages/auth/src/guard/auth-failure.ts'
import { createCachedKey } from '../../../../packages/auth/src/guard/keys/cached-key.ts'
import {
  isFailure,
  KeyCache,
  type LookUp,
} from '../../../../packages/auth/src/guard/keys/key-cache.ts'
import { TokenBucket } from '../../../../packages/auth/src/guard/keys/token-bucket.ts'
import { unwatchedPrefix } from '../../../../packages/auth/src/guard/lockout/lockout.ts'
import { generateKey, hashOf } from '../../../../packages/auth/src/key-format.ts'

const KEY = generateKey()
const MISTYPED = KEY.slice(0, -1) + (KEY.endsWith('a') ? 'b' : 'a')
const BOOTSTRAP = 'the-bootstrap-key'
const valid = (expiresAt: number | null = null) =>
  createCachedKey(
    { userId: 'u', scopes: [], bootstrap: false, keyId: 'k', tenant: null },
    expiresAt,
  )

interface Situation {
  lookUp?: LookUp
  /** Whether the process may trust its cache. */
  isHeld?: boolean
  renew?: () => Promise<void>
  /** `undefined`: the secret could not be read. */
  bootstrapKey?: string | undefined
  /** Enables the lockout. */
  blockedForMs?: number
  /** How many failed attempts may be counted. */
  budget?: number
}

function makeAuthenticator(situation: Situation) {
  const { lookUp = async () => valid(), isHeld = true, blockedForMs, budget = 10 } = situation
  const calls: string[] = []
  const bootstrapKey = 'bootstrapKey' in situation ? situation.bootstrapKey : BOOTSTRAP
  const bucket = new TokenBucket(budget, 0)
  const parts = {
    keyCache: new KeyCache((hash, format) => {
      calls.push('look up')
      return lookUp(hash, format)
    }),
    lease: {
      isHeld: () => isHeld,
      renew: async () => {
        calls.push('renew')
        await situation.renew?.()
      },
    },
    bootstrapKey: {
      tryRead: async () => {},
      matches: (key: string) => (bootstrapKey === undefined ? undefined : key === bootstrapKey),
    },
    failures: { wellFormed: bucket, badChecksum: bucket, otherFormat: bucket },
    lockout:
      blockedForMs === undefined
        ? null
        : {
            blockedForMs: () => blockedForMs,
            recordFailure: async () => {
              calls.push('failure')
              return 0
            },
            recordSuccess: async (prefix: string) => {
              calls.push('success')
              return unwatchedPrefix(prefix)
            },
          },
  }
  const authenticator = new Authenticator(parts as unknown as AuthenticatorParts)
  const verdict = async (key: string) => {
    const result = await authenticator.authenticate(key, hashOf(key))
    return isFailure(result) ? result.verdict : 'valid'
  }
  return { verdict, calls }
}

const cases: [
  about: string,
  situation: Situation,
  key: string,
  verdict: string,
  calls: string[],
][] = [
  ['a key of a row', {}, KEY, 'valid', ['look up']],
  ['a key without a row', { lookUp: unknown }, KEY, 'unknown', ['look up']],
  ['a revoked key', { lookUp: revoked }, KEY, 'revoked', ['look up']],
  ['an expired key', { lookUp: async () => valid(1) }, KEY, 'expired', ['look up']],
  ['an invalid expiry', { lookUp: async () => valid(Number.NaN) }, KEY, 'expired', ['look up']],
  ['a wrong checksum', {}, MISTYPED, 'unknown', []],
  ['a text with a space', {}, 'a b', 'unknown', []],
  ['a text that is too long', {}, 'x'.repeat(513), 'unknown', []],
  ['the bootstrap key', {}, BOOTSTRAP, 'valid', []],
  ['a lease that has ended', { isHeld: false }, KEY, 'valid', ['renew', 'look up']],
  ['a blocked prefix', { blockedForMs: 5 }, KEY, 'blocked', []],
  ['the bootstrap key of a blocked prefix', { blockedForMs: 5 }, BOOTSTRAP, 'blocked', []],
  ['a success', { blockedForMs: 0 }, KEY, 'valid', ['look up', 'success']],
  ['a failure', { blockedForMs: 0, lookUp: revoked }, KEY, 'revoked', ['look up', 'failure']],
  ['a text that no key can be', { blockedForMs: 5 }, 'a b', 'unknown', []],
  [
    'a valid key while the secret cannot be read',
    { bootstrapKey: undefined },
    KEY,
    'valid',
    ['look up'],
  ],
]

for (const [about, situation, key, expected, called] of cases) {
  t.test(`authentication: ${about}`, async (t) => {
    const { verdict, calls } = makeAuthenticator(situation)
    t.equal(await verdict(key), expected)
    t.same(calls, called)
  })
}

t.test('authentication rejects where it cannot decide', async (t) => {
  const broken = new Error('no answer within 2000 ms')
  const fail = () => Promise.reject(broken)
  const rows: [situation: Situation, error: Error][] = [
    [{ isHeld: false, renew: fail }, broken],
    [{ lookUp: fail }, broken],
    [
      { lookUp: unknown, bootstrapKey: undefined },
      new CannotDecide('the bootstrap key cannot be read'),
    ],
    [
      { blockedForMs: 0, lookUp: unknown, budget: 0 },
      new CannotDecide('too many failed attempts to count'),
    ],
  ]
  for (const [situation, error] of rows) {
    await t.rejects(makeAuthenticator(situation).verdict(KEY), error)
  }
})

t.test('a second request with a key needs no lookup', async (t) => {
  const { verdict, calls } = makeAuthenticator({})
  t.same([await verdict(KEY), await verdict(KEY)], ['valid', 'valid'])
  t.same([await verdict(BOOTSTRAP), await verdict(BOOTSTRAP)], ['valid', 'valid'])
  t.same(calls, ['look up'])
})

async function unknown() {
  return { verdict: 'unknown', keyId: null } as const
}

async function revoked() {
  return { verdict: 'revoked', keyId: 'k' } as const
}
