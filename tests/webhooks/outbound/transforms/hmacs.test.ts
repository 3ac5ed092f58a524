import { createHmac } from 'node:crypto'
import t from 'tap'
import {
  hmacsWith,
  type HmacFormat,
} from '../../../../packages/webhooks/src/outbound/transforms/hmacs.ts'

const { hmac, hmacs } = hmacsWith(['whsec_new', 'old', 'older'])

t.test('an HMAC has the whole secret as its key', async (t) => {
  // RFC 4231, test case 2.
  t.equal(
    hmacsWith(['Jefe']).hmac('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
  for (const algorithm of ['sha1', 'sha256', 'sha384', 'sha512'] as const) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const made = (key: string) => createHmac(algorithm, key).update('ż').digest(encoding)
      const options = { algorithm, encoding }
      t.equal(hmac('ż', options), made('whsec_new'))
      t.same(hmacs('ż', options), ['whsec_new', 'old', 'older'].map(made), 'newest first')
    }
  }
  t.equal(hmac('a', { algorithm: undefined, encoding: undefined }), hmac('a'))
})

t.test('any other algorithm, encoding or text is an error', async (t) => {
  const wrong: [unknown, unknown?][] = [
    ['a', { algorithm: 'md5' }],
    ['a', { algorithm: 'SHA256' }],
    ['a', { algorithm: null }],
    ['a', { encoding: 'latin1' }],
    ['a', { encoding: 'buffer' }],
    ['a', { algoritm: 'sha1' }],
    ['a', 'sha1'],
    ['a', null],
    [5],
    [Buffer.from('a')],
    [undefined],
  ]
  for (const [text, options] of wrong) {
    for (const make of [hmac, hmacs]) {
      t.throws(
        () => make(text as string, options as HmacFormat),
        TypeError,
        JSON.stringify(options),
      )
    }
  }
})
