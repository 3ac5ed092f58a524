// Rows that a request could be read in two ways by: none is made a source.
import t from 'tap'
import type { Preset } from '../../../../packages/providers/src/preset.ts'
import type {
  JwtScheme,
  Scheme,
  SignatureScheme,
} from '../../../../packages/providers/src/preset-schemes.ts'
import { sourceOf } from '../../../../packages/webhooks/src/inbound/providers.ts'

const hmac: SignatureScheme = {
  algorithm: 'hmac-sha256',
  signature: { in: 'header:x-signature' },
  encoding: 'hex',
}
const jwt: JwtScheme = {
  algorithm: 'jwt',
  in: 'header:x-jwt',
  algorithms: ['HS256'],
  key: 'secret',
  binds: [{ in: 'claim:hash', hash: 'sha256' }],
}
const time = { in: 'header:x-time', toleranceSeconds: 300 } as const
const covers = {
  names: 'header:x-names',
  separator: ',',
  each: '{name}:{value}',
  join: ';',
} as const

const row = (schemes: Scheme[], changes: Partial<Preset> = {}): Preset => ({
  name: 'A sender',
  docs: 'https://example.com',
  checked: 'documentation',
  checkedOn: '2026-11-22',
  evidence: 'none',
  secret: 'a secret',
  schemes,
  ...changes,
})

const made = (preset: Preset) => sourceOf('sender', preset, { path: '/a', secretName: 'S' })

t.test('a row that could be read in two ways is refused at boot', async (t) => {
  const signs = (signed: string, changes: Partial<Preset> = {}, more: object = {}) =>
    row([{ ...hmac, signed, ...more }], changes)
  const refused: [preset: Preset, why: RegExp][] = [
    [signs('{header:x-a}{header:x-b}'), /can be read in two ways/],
    [signs('{header:x-a}{body}', { reads: 'form' }), /can be read in two ways/],
    [signs('{url}{body}', { reads: 'any' }), /can be read in two ways/],
    [signs('{url}{params}', { reads: 'form' }), /can be read in two ways/],
    [signs('{body}{header:x-a}{timestamp}', {}, { timestamp: time }), /can be read in two ways/],
    [signs('[a{header:x-a}][a{header:x-b}]c{body}'), /can be read in two ways/],
    [signs('[{header:x-a}]:{body}'), /can be read in two ways/],
    [signs('{params}'), /a body is no form/],
    [signs('{form:payload}', { reads: 'form' }), /others are published/],
    [signs('{secret}{body}', { reads: 'json or form' }, { algorithm: 'sha256' }), /lengthen/],
    [row([hmac], { deduplicate: '{header:x-id}' }), /x-id, which is not signed/],
    [row([hmac], { deduplicate: ['{json:id}', '{header:x-id}'] }), /x-id, which is not signed/],
    [
      row([hmac], { type: '{header:x-a}', deduplicate: '{header:x-a}:{body}' }),
      /x-a, which is not signed/,
    ],
    [row([hmac], { type: '{header:x-a}', deduplicate: '{type}' }), /nothing that is signed/],
    [signs('{timestamp}', { deduplicate: '{json:id}' }, { timestamp: time }), /json:id, which is/],
    [
      row([{ ...hmac, signed: '{header:x-id}.{body}' }, hmac], { type: '{header:x-id}' }),
      /signed by one scheme, and not by another/,
    ],
    [
      row([{ ...hmac, signed: '{covered}\n{body}', covers: { ...covers, ifSent: [] } }], {
        type: '{header:x-topic}',
      }),
      /need not be among the headers that are signed/,
    ],
    [row([{ ...jwt, algorithms: ['HS256', 'RS256'] }]), /HS256 is for shared keys/],
    [
      row([{ ...jwt, key: { jwks: { url: 'https://a.example/keys' } } }]),
      /HS256 is for shared keys/,
    ],
    [
      row([{ ...jwt, algorithms: ['RS256'], key: { jwks: { url: '{header:x-keys}' } } }]),
      /may be any address/,
    ],
  ]
  for (const [preset, message] of refused)
    t.throws(() => made(preset), { message }, String(message))
})

t.test('a row that can be read in one way only is taken', async (t) => {
  const taken: Preset[] = [
    row([{ ...hmac, signed: '{header:x-a}.{timestamp}.{body}', timestamp: time }]),
    row([{ ...hmac, signed: '{method}{url}{body}{timestamp}', timestamp: time }]),
    row([{ ...hmac, signed: '[a:{header:x-a};][b:{header:x-b};]c:{header:x-c}' }]),
    row([{ ...hmac, signed: '{header:x-id}.{body}' }], { deduplicate: '{header:x-id}' }),
    row([hmac], { type: '{header:x-topic}', deduplicate: '{type}:{body}' }),
    row([jwt], { reads: 'any', deduplicate: '{claim:jti}' }),
    row([{ algorithm: 'token', in: 'header:x-token' }], { deduplicate: '{header:x-id}' }),
  ]
  for (const preset of taken) t.doesNotThrow(() => made(preset))
})
