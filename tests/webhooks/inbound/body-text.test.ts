// Bodies that are not plain UTF-8: read as their sender wrote them, or refused; never accepted as other text.
import { createHmac } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { hmac } from '@svc/webhooks'
import { hostOf } from './providers/counting-host.ts'

const signedHost = (t: Test) => {
  const verify = hmac({ signatureHeader: 'x-signature', secretName: 'S' })
  const host = hostOf(t, { path: '/a', publishAs: 'a', verify }, { S: 'a secret of both' })
  const send = (body: Buffer, headers: Record<string, string>) => {
    const signature = createHmac('sha256', 'a secret of both').update(body).digest('hex')
    const signed = { 'x-signature': signature, ...headers }
    return host.app.inject({ method: 'POST', url: '/a', headers: signed, body })
  }
  const published = () => host.payloads.splice(0).map((json) => JSON.parse(json) as unknown)
  return { send, published }
}

t.test(
  'a body that is compressed is refused, and the sender is told to send it as it is',
  async (t) => {
    const { send, published } = signedHost(t)
    const types = [
      'application/json',
      'text/xml',
      'application/x-www-form-urlencoded',
      'text/plain',
    ]
    const text = Buffer.from('{"order":7}')
    const encoded: [string, Buffer][] = [
      ['gzip', gzipSync(text)],
      ['X-Gzip', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['br', brotliCompressSync(text)],
      ['gzip, identity', gzipSync(text)],
      ['aes128gcm', text],
    ]
    for (const type of types) {
      for (const [encoding, body] of encoded) {
        const headers = { 'content-type': type, 'content-encoding': encoding }
        const answer = await send(body, headers)
        t.equal(answer.statusCode, 415, `${type} ${encoding}`)
        t.equal(answer.json().code, 'SVC_WEBHOOKS_CONTENT_ENCODING_UNSUPPORTED')
        t.equal(answer.headers['accept-encoding'], 'identity')
      }
    }
    t.strictSame(published(), [])
    const plain = { 'content-type': 'application/json', 'content-encoding': 'identity' }
    t.equal((await send(text, plain)).statusCode, 200)
    t.strictSame(published(), [{ order: 7 }])
  },
)

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

t.test('a text is read by the charset that its sender names, or its first bytes', async (t) => {
  const { send, published } = signedHost(t)
  const text = '<payer>Zürich</payer>'
  const declared = '<?xml version="1.0" encoding="ISO-8859-1"?><payer>Zürich</payer>'
  const FORM = 'application/x-www-form-urlencoded'
  const cases: [type: string, body: Buffer, payload: unknown][] = [
    ['text/xml; charset=ISO-8859-1', latin1(text), text],
    ['text/plain;charset="windows-1252"', Buffer.from([0x80, 0x20, 0xfc]), '€ ü'],
    ['text/plain; charset=windows-1251', Buffer.from([0xcc, 0xe8, 0xf0]), 'Мир'],
    ['text/plain; charset=Shift_JIS', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['text/plain; charset=utf-16le', Buffer.from(text, 'utf16le'), text],
    ['text/xml', Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be(text)]), `\ufeff${text}`],
    ['application/xml', latin1(declared), declared],
    ['application/soap+xml', latin1(declared), declared],
    ['text/plain', latin1(text), text],
    ['text/plain; charset=utf8', Buffer.from(text), text],
    [FORM, Buffer.from('city=Z%C3%BCrich'), { city: 'Zürich' }],
    [`${FORM}; charset=ISO-8859-1`, Buffer.from('city=Z%FCrich+1'), { city: 'Zürich 1' }],
    [FORM, Buffer.from('city=Z%FCrich'), { city: 'Zürich' }],
    [`${FORM}; charset=windows-1251`, Buffer.from('%CC=%E8&a=%25'), { М: 'и', a: '%' }],
  ]
  for (const [type, body, payload] of cases) {
    t.equal((await send(body, { 'content-type': type })).statusCode, 200, type)
    t.strictSame(published(), [payload], type)
  }
})

t.test('a text that cannot be read is refused', async (t) => {
  const { send, published } = signedHost(t)
  const bytes = Buffer.from([0x5a, 0xfc, 0x72])
  const FORM = 'application/x-www-form-urlencoded'
  const cases: [type: string, body: Buffer][] = [
    ['text/plain; charset=utf-8', bytes],
    ['text/plain; charset=klingon', Buffer.from('a')],
    ['text/plain; charset=utf-8; charset=latin1', bytes],
    ['text/xml', latin1('<?xml version="1.0" encoding="klingon"?><a/>')],
    [`${FORM}; charset=utf-8`, Buffer.from('city=Z%FCrich')],
  ]
  for (const [type, body] of cases) {
    const answer = await send(body, { 'content-type': type })
    t.equal(answer.statusCode, 415, type)
    t.equal(answer.json().code, 'SVC_WEBHOOKS_CHARSET_UNSUPPORTED')
  }
  const json = await send(latin1('{"city":"Zürich"}'), {
    'content-type': 'application/json; charset=ISO-8859-1',
  })
  t.equal(json.json().code, 'SVC_WEBHOOKS_BODY_NOT_JSON', 'JSON is UTF-8')
  t.strictSame(published(), [])
})
