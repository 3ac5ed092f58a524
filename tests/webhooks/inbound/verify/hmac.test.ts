import t from 'tap'
import { hmac, type HmacOptions } from '@svc/webhooks'
import { holding, received, sign } from '../received.ts'

const plain: HmacOptions = { signatureHeader: 'X-Signature', secretName: 'KEY' }
const body = '{"a":1}'
const hex = sign(body).toString('hex')
const base64 = sign(body).toString('base64')

const ask = (
  options: Partial<HmacOptions>,
  lines: [string, string][],
  bytes: string | Buffer = body,
) => hmac({ ...plain, ...options })(received(lines, bytes), bytes.toString(), holding('a key'))

t.test('a signature is accepted however its scheme writes it', async (t) => {
  const sha = (name: string) => sign(body, 'a key', name).toString('hex')
  t.equal(await ask({}, [['x-signature', hex]]), true, 'hex')
  t.equal(await ask({}, [['x-signature', hex.toUpperCase()]]), true, 'hex in capitals')
  t.equal(await ask({ encoding: 'base64' }, [['x-signature', base64]]), true, 'base64')
  t.equal(await ask({ prefix: 'sha256=' }, [['x-signature', `sha256=${hex}`]]), true, 'a prefix')
  t.equal(await ask({ algorithm: 'SHA-1' }, [['x-signature', sha('sha1')]]), true, 'SHA-1')
  t.equal(await ask({ algorithm: 'SHA-384' }, [['x-signature', sha('sha384')]]), true, 'SHA-384')
  t.equal(await ask({ algorithm: 'SHA-512' }, [['x-signature', sha('sha512')]]), true, 'SHA-512')
  t.equal(
    await ask({ key: (text) => Buffer.from(text.replace('a', 'x')) }, [
      ['x-signature', sign(body, 'x key').toString('hex')],
    ]),
    true,
    'a key made of the secret',
  )
})

t.test('any text but the signature is refused, and nothing throws', async (t) => {
  const junk = {
    empty: '',
    'one character short': hex.slice(1),
    'one byte short': hex.slice(2),
    'one byte long': `${hex}00`,
    'the wrong alphabet at the right length': `${hex.slice(0, -1)}z`,
    'a character beyond ASCII': `${hex.slice(0, -1)}\u00e9`,
    'full-width digits': hex.replace(/\d/, (digit) =>
      String.fromCharCode(digit.charCodeAt(0) + 0xfee0),
    ),
    'a space before': ` ${hex}`,
    'every byte there is': Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString(
      'latin1',
    ),
    'the right one in base64': base64,
    'a very long one': 'a'.repeat(100_000),
  }
  for (const [what, value] of Object.entries(junk)) {
    t.equal(await ask({}, [['x-signature', value]]), false, what)
  }
  t.equal(await ask({ prefix: 'sha256=' }, [['x-signature', hex]]), false, 'no prefix')
  t.equal(
    await ask({ prefix: 'sha256=' }, [['x-signature', `SHA256=${hex}`]]),
    false,
    'another prefix',
  )
  t.equal(await ask({}, []), false, 'no header')
})

t.test('base64 is read as it is canonically written', async (t) => {
  const junk = {
    'without padding': base64.replace('=', ''),
    'in the alphabet of URLs': `${base64.slice(0, 10)}-_${base64.slice(12)}`,
    'with a space in it': `${base64.slice(0, 10)} ${base64.slice(10)}`,
    'with other bits behind the last byte': base64.replace(/.=$/, (end) =>
      end === 'A=' ? 'B=' : 'A=',
    ),
    'of 33 bytes in 44 characters': 'A'.repeat(44),
  }
  for (const [what, value] of Object.entries(junk)) {
    t.equal(await ask({ encoding: 'base64' }, [['x-signature', value]]), false, what)
  }
})

t.test('a header that comes twice is refused, also with the right signature in both', async (t) => {
  t.equal(
    await ask({}, [
      ['X-Signature', hex],
      ['x-signature', hex],
    ]),
    false,
  )
})

t.test('the signature is over the bytes, also if they are not UTF-8', async (t) => {
  const bytes = Buffer.from([0xff, 0x00, 0xc3, 0x28, 0x80, 0x41])
  const wrapped = Buffer.concat([Buffer.from('5.'), bytes])
  const computePayload = (text: string, timestamp: string) => `${timestamp}.${text}`
  const stamped = { computePayload, timestampHeader: 'x-time' }
  t.equal(await ask({}, [['x-signature', sign(bytes).toString('hex')]], bytes), true, 'alone')
  t.equal(
    await ask(
      stamped,
      [
        ['x-signature', sign(wrapped).toString('hex')],
        ['x-time', '5'],
      ],
      bytes,
    ),
    true,
    'in a computed payload',
  )
  const unicode = Buffer.from('Zürich 🔑')
  t.equal(
    await ask(
      stamped,
      [
        ['x-signature', sign('5.Zürich 🔑').toString('hex')],
        ['x-time', '5'],
      ],
      unicode,
    ),
    true,
    'UTF-8 in a computed payload',
  )
})

t.test('a payload may be computed as bytes, and of the request', async (t) => {
  const computePayload: NonNullable<HmacOptions['computePayload']> = (_body, _timestamp, request) =>
    Buffer.concat([Buffer.from(`${request.method} ${request.url} `), request.rawBody])
  const signature = sign(`POST /hooks ${body}`).toString('hex')
  t.equal(await ask({ computePayload }, [['x-signature', signature]]), true)
})

t.test(
  'a secret that is not set, empty, or yields no key is an error and never a key',
  async (t) => {
    const emptyKey = sign(body, '').toString('hex')
    const request = received([['x-signature', emptyKey]], body)
    const missing = { code: 'SVC_WEBHOOKS_SECRET_MISSING', message: /KEY/ }
    await t.rejects(async () => hmac(plain)(request, body, holding(null)), missing)
    await t.rejects(async () => hmac(plain)(request, body, holding('')), missing)
    const toHex = { ...plain, key: (text: string) => Buffer.from(text, 'hex') }
    await t.rejects(async () => hmac(toHex)(request, body, holding('not hex')), missing)
  },
)

t.test('a helper verifies a plain object in a host’s own test', async (t) => {
  const request = { headers: { 'x-signature': hex } } as never
  t.equal(await hmac(plain)(request, body, holding('a key')), true)
  const twice = { headers: { 'x-signature': [hex, hex] } } as never
  t.equal(await hmac(plain)(twice, body, holding('a key')), false)
})
