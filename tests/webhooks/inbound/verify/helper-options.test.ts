import t from 'tap'
import { basicAuth, bearerToken, headerToken, hmac } from '@svc/webhooks'

const plain = { signatureHeader: 'x-signature', secretName: 'KEY' }

const mistakes: [what: string, make: () => unknown, complaint: RegExp][] = [
  ['no options', () => hmac(undefined as never), /hmac: the options/],
  [
    'no header',
    () => hmac({ secretName: 'KEY' } as never),
    /hmac: the option "signatureHeader" is missing/,
  ],
  ['no secret', () => hmac({ signatureHeader: 'x' } as never), /"secretName" is missing/],
  ['an empty secret name', () => hmac({ ...plain, secretName: '' }), /"secretName" must be/],
  [
    'a header that is none',
    () => hmac({ ...plain, signatureHeader: 'x y' }),
    /"signatureHeader" must be/,
  ],
  [
    'an unknown algorithm',
    () => hmac({ ...plain, algorithm: 'MD5' as never }),
    /"algorithm" must be "SHA-1"/,
  ],
  [
    'Node’s spelling of one',
    () => hmac({ ...plain, algorithm: 'sha256' as never }),
    /"algorithm" must be/,
  ],
  [
    'a property of every object',
    () => hmac({ ...plain, algorithm: 'toString' as never }),
    /"algorithm"/,
  ],
  [
    'an unknown encoding',
    () => hmac({ ...plain, encoding: 'base32' as never }),
    /"encoding" must be/,
  ],
  ['an unknown option', () => hmac({ ...plain, secret: 'x' } as never), /no option "secret"/],
  [
    'a tolerance that is no number',
    () => hmac({ ...plain, timestampHeader: 'x', toleranceSeconds: Number.NaN }),
    /"toleranceSeconds"/,
  ],
  [
    'a negative tolerance',
    () => hmac({ ...plain, timestampHeader: 'x', toleranceSeconds: -1 }),
    /"toleranceSeconds"/,
  ],
  ['a tolerance for nothing', () => hmac({ ...plain, toleranceSeconds: 5 }), /needs a timestamp/],
  [
    'a tolerance for a list without one',
    () => hmac({ ...plain, extractSignature: { signature: 'v1' }, toleranceSeconds: 5 }),
    /needs a timestamp/,
  ],
  [
    'a tolerance for a timestamp that is not signed',
    () => hmac({ ...plain, timestampHeader: 'x-time', toleranceSeconds: 5 }),
    /"toleranceSeconds" judges a timestamp that is not signed: give the "computePayload"/,
  ],
  [
    'a tolerance for a timestamp in the list of signatures that is not signed',
    () =>
      hmac({
        ...plain,
        extractSignature: { signature: 'v1', timestamp: 't' },
        toleranceSeconds: 5,
      }),
    /"toleranceSeconds" judges a timestamp that is not signed/,
  ],
  [
    'fields without a signature',
    () => hmac({ ...plain, extractSignature: {} as never }),
    /"extractSignature"/,
  ],
  [
    'fields with another field',
    () => hmac({ ...plain, extractSignature: { signature: 'v1', time: 't' } as never }),
    /"extractSignature"/,
  ],
  [
    'an empty separator',
    () => hmac({ ...plain, extractSignature: { signature: 'v1', separator: '' } }),
    /"extractSignature"/,
  ],
  [
    'a payload that is no function',
    () => hmac({ ...plain, computePayload: 'body' as never }),
    /"computePayload"/,
  ],
  [
    'a username with a colon',
    () => basicAuth({ username: 'a:b', passwordSecretName: 'P' }),
    /"username"/,
  ],
  ['no username', () => basicAuth({ username: '', passwordSecretName: 'P' }), /"username"/],
  ['no password', () => basicAuth({ username: 'a' } as never), /"passwordSecretName" is missing/],
  ['no token', () => bearerToken({} as never), /bearerToken: the option "secretName" is missing/],
  [
    'a bearer header that is none',
    () => bearerToken({ secretName: 'T', header: 'a:b' }),
    /"header" must be/,
  ],
  [
    'no header of a token',
    () => headerToken({ secretName: 'T' } as never),
    /headerToken: the option "header" is missing/,
  ],
]

for (const [what, make, complaint] of mistakes) {
  t.test(`${what} is an error before the host has booted`, async (t) => {
    t.throws(make, { message: complaint, code: 'SVC_CORE_INVALID_OPTION' })
  })
}
