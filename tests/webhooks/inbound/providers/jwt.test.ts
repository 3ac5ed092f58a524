import { createHash, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import type { InboundRequest } from '@svc/webhooks'
import { ProviderClient } from '../../../../packages/providers/src/provider-client.ts'
import type { Preset } from '../../../../packages/providers/src/preset.ts'
import type { JwtScheme } from '../../../../packages/providers/src/preset-schemes.ts'
import { sourceOf } from '../../../../packages/webhooks/src/inbound/providers.ts'
import { received } from '../received.ts'
import { sentOf } from '@svc/providers/internal'
import { jwt, type Keys } from './sign.ts'

const NOW_SECONDS = 1_800_000_000
const body = '{"a":"Zürich"}'
const digest = createHash('sha256').update(body).digest('hex')

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsa: Keys = {
  secret: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  private: pair.privateKey,
}
const shared: Keys = { secret: 'a shared key' }

const scheme: JwtScheme = {
  algorithm: 'jwt',
  in: 'header:x-jwt',
  algorithms: ['RS256'],
  key: 'secret',
  issuer: 'sender',
  toleranceSeconds: 300,
  binds: [{ in: 'claim:hash', hash: 'sha256' }],
}

const sourceWith = (
  changes: Partial<JwtScheme>,
  secret: string | null = 'the key',
  base: JwtScheme = scheme,
) => {
  const preset: Preset = {
    name: 'A sender',
    docs: 'https://example.com',
    checked: 'documentation',
    checkedOn: '2026-11-22',
    evidence: 'none',
    secret,
    schemes: [{ ...base, ...changes }],
  }
  return sourceOf('sender', preset, {
    path: '/a',
    ...(secret !== null && { secretName: 'KEY' }),
  })
}

const claims = { iss: 'sender', iat: NOW_SECONDS, hash: digest }
const request = (text: string): InboundRequest => received([['x-jwt', text]], body)

interface Case {
  title: string
  scheme?: Partial<JwtScheme>
  header?: { alg?: string; kid?: string; crit?: string[] }
  claims?: object
  keys?: Keys
  /** What the host is given. */
  secret?: string
  reason: RegExp | null
}

const cases: Case[] = [
  { title: 'a genuine one', reason: null },
  { title: 'an expired one', claims: { exp: NOW_SECONDS - 120 }, reason: /expired/ },
  { title: 'one from the future', claims: { nbf: NOW_SECONDS + 120 }, reason: /not valid yet/ },
  { title: 'one that is too old', claims: { iat: NOW_SECONDS - 301 }, reason: /tolerance/ },
  { title: 'one without a time', claims: { iat: undefined }, reason: /when it was made/ },
  { title: 'one with a time that is no number', claims: { exp: '9' }, reason: /no number/ },
  { title: 'one of another issuer', claims: { iss: 'other' }, reason: /issuer/ },
  {
    title: 'one for another',
    scheme: { audience: 'us' },
    claims: { aud: 'them' },
    reason: /for another/,
  },
  {
    title: 'one of several audiences',
    scheme: { audience: 'us' },
    claims: { aud: ['us'] },
    reason: null,
  },
  { title: 'one for another body', claims: { hash: 'x' }, reason: /claim:hash/ },
  { title: 'one that lacks the digest', claims: { hash: undefined }, reason: /claim:hash/ },
  {
    title: 'one signed with another key',
    keys: {
      secret: '',
      private: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    },
    reason: /no signature matches/,
  },
  {
    title: 'one that takes the public key for a shared one',
    header: { alg: 'HS256' },
    keys: { secret: rsa.secret },
    reason: /algorithm/,
  },
  {
    title: 'the same where a shared key is accepted as well',
    scheme: { algorithms: ['HS256'] },
    header: { alg: 'RS256' },
    reason: /algorithm/,
  },
  { title: 'one with a critical extension', header: { crit: ['b64'] }, reason: /critical/ },
  {
    title: 'one with a shared key',
    scheme: { algorithms: ['HS256'] },
    header: { alg: 'HS256' },
    keys: shared,
    secret: shared.secret,
    reason: null,
  },
]

for (const { title, reason, ...given } of cases) {
  t.test(`of JWTs ${title} is ${reason ? 'refused, with the reason' : 'accepted'}`, async (t) => {
    t.intercept(Date, 'now', { value: () => NOW_SECONDS * 1000 })
    const source = sourceWith(given.scheme ?? {})
    const header = { alg: 'RS256', ...given.header }
    const asked = request(jwt(header, { ...claims, ...given.claims }, given.keys ?? rsa))
    const verdict = await source.verify(asked, body, () => given.secret ?? rsa.secret)
    t.equal(verdict, reason === null)
    if (reason) t.match(sentOf(asked, body).reason, reason)
  })
}

t.test('a JWT without an algorithm is refused, with and without a signature', async (t) => {
  t.intercept(Date, 'now', { value: () => NOW_SECONDS * 1000 })
  const source = sourceWith({})
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  for (const alg of ['none', 'None', 'NONE', '']) {
    const text = `${part({ alg })}.${part(claims)}`
    for (const jws of [`${text}.`, text, `${text}.AAAA`]) {
      t.equal(
        await source.verify(request(jws), body, () => rsa.secret),
        false,
        `${alg} ${jws.length}`,
      )
    }
  }
})

t.test('text that is no JWT is refused and throws nothing', async (t) => {
  const source = sourceWith({})
  for (const text of [
    '',
    '.',
    '..',
    'a.b.c',
    'e30.e30.e30',
    '\u00ff.\u00ff.\u00ff',
    'W10.W10.AAAA',
  ]) {
    t.equal(await source.verify(request(text), body, () => rsa.secret), false, text)
  }
})

const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }
const jwks = { jwks: { url: 'https://sender.example/keys', hosts: ['sender.example'] } }

t.test('a key of the set with another use is not used', async (t) => {
  t.intercept(Date, 'now', { value: () => NOW_SECONDS * 1000 })
  for (const other of [{}, { alg: 'RS512' }, { use: 'enc' }, { kty: 'oct', k: 'AAAA' }]) {
    const providerClient = new ProviderClient(async () => ({
      statusCode: 200,
      body: JSON.stringify({ keys: [{ ...jwk, ...other }] }),
    }))
    const { verify } = sourceWith({ key: jwks }, null)
    const asked = request(jwt({ alg: 'RS256', kid: 'k1' }, claims, rsa))
    const isSame = Object.keys(other).length === 0
    t.equal(await verify(asked, body, () => null, providerClient), isSame, JSON.stringify(other))
  }
})

t.test('an RSA key of less than 2048 bits verifies nothing', async (t) => {
  t.intercept(Date, 'now', { value: () => NOW_SECONDS * 1000 })
  for (const modulusLength of [1024, 2047, 2048]) {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength })
    const secret = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const { verify } = sourceWith({})
    const token = request(jwt({ alg: 'RS256' }, claims, { secret, private: privateKey }))
    t.equal(await verify(token, body, () => secret), modulusLength === 2048, String(modulusLength))
  }
})

t.test(
  'a JWT says until when it is valid, unless the row judges its age or has no time',
  async (t) => {
    t.intercept(Date, 'now', { value: () => NOW_SECONDS * 1000 })
    const verdict = (changes: Partial<JwtScheme>, its: object) => {
      const { toleranceSeconds: _, ...aged } = scheme
      const source = sourceWith(changes, 'the key', aged)
      const token = jwt({ alg: 'RS256' }, { iss: 'sender', hash: digest, ...its }, rsa)
      return source.verify(request(token), body, () => rsa.secret)
    }
    t.equal(await verdict({}, {}), false)
    t.equal(await verdict({}, { iat: NOW_SECONDS }), false)
    t.equal(await verdict({}, { exp: NOW_SECONDS + 1 }), true)
    t.equal(await verdict({ timeless: true }, {}), true)
    t.equal(await verdict({ timeless: true }, { exp: NOW_SECONDS - 61 }), false)
    t.equal(await verdict({ toleranceSeconds: 300 }, { iat: NOW_SECONDS }), true)
  },
)
