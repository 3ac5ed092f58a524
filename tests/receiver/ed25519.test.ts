import { generateKeyPairSync, sign } from 'node:crypto'
import t from 'tap'
import { verifyDelivery, type VerifyDeliveryOptions } from '@svc/receiver'

const NOW = 1_700_000_000
const body = '{"event":"order.created","payload":"Zürich 🔑","deliveryId":"0199"}'
const pair = generateKeyPairSync('ed25519')
const other = generateKeyPairSync('ed25519')

const publicKeyOf = ({ publicKey }: typeof pair): string =>
  `whpk_${publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')}`
const publicKey = publicKeyOf(pair)

const signature = (text = body, id = '0199', timestamp = NOW, { privateKey } = pair) =>
  `v1a,${sign(null, Buffer.from(`${id}.${timestamp}.${text}`), privateKey).toString('base64')}`
const headers = {
  'webhook-id': '0199',
  'webhook-timestamp': String(NOW),
  'webhook-signature': signature(),
}
const verify = (options: Partial<VerifyDeliveryOptions> = {}) =>
  verifyDelivery({ headers, body, publicKey, ...options })
const mismatch = { code: 'SVC_DELIVERY_SIGNATURE_MISMATCH', statusCode: 401 }

t.beforeEach((t) => {
  t.intercept(Date, 'now', { value: () => NOW * 1000 })
})

t.test('a delivery is verified with the public key of its sender', async (t) => {
  t.match(verify(), { event: 'order.created', payload: 'Zürich 🔑', deliveryId: '0199' })
  t.ok(verify({ headers: new Headers(headers), body: Buffer.from(body) }))
  t.ok(verify({ publicKey: [publicKeyOf(other), publicKey] }), 'one of a list')
  t.ok(verifyDelivery({ headers, body, secret: publicKey }), 'a public key in "secret"')
})

t.test('the signature may be one of several in the header', async (t) => {
  const value = `v1,AAAA v1a,AAAA ${signature(body, '0199', NOW, other)} ${signature()}`
  t.ok(verify({ headers: { ...headers, 'webhook-signature': value } }))
})

t.test('a delivery that was not signed in this way is refused', async (t) => {
  t.throws(() => verify({ body: `${body} ` }), mismatch, 'another body')
  t.throws(() => verify({ publicKey: publicKeyOf(other) }), mismatch, 'another key')
  t.throws(() => verify({ headers: { ...headers, 'webhook-id': '0198' } }), mismatch, 'another id')
  const later = { ...headers, 'webhook-timestamp': String(NOW + 1) }
  t.throws(() => verify({ headers: later }), mismatch, 'another time')
  for (const value of ['', 'v1a,', 'v1a,AAAA', signature().slice(1), signature().slice(4)]) {
    t.throws(() => verify({ headers: { ...headers, 'webhook-signature': value } }), mismatch, value)
  }
})

t.test('an old timestamp and a missing header are refused', async (t) => {
  const old = { ...headers, 'webhook-timestamp': String(NOW - 301) }
  t.throws(() => verify({ headers: old }), { code: 'SVC_DELIVERY_OUTSIDE_TOLERANCE' })
  for (const name of Object.keys(headers)) {
    t.throws(() => verify({ headers: { ...headers, [name]: undefined } }), {
      code: 'SVC_DELIVERY_HEADER_MISSING',
      message: new RegExp(name),
    })
  }
})

t.test('a receiver with a secret and a public key accepts a match of either', async (t) => {
  const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
  t.ok(verify({ secret }), 'the public key, where there is no X-Svc-Signature')
  t.throws(() => verify({ secret, headers: { ...headers, 'webhook-signature': 'v1a,AAAA' } }), {
    code: 'SVC_DELIVERY_HEADER_MISSING',
    message: /x-svc-timestamp/,
  })
})

t.test('a public key is not taken as a secret: anyone could sign with it', async (t) => {
  const { createHmac } = await import('node:crypto')
  const hmac = createHmac('sha256', publicKey).update(`${NOW}.${body}`).digest('hex')
  const forged = {
    ...headers,
    'webhook-signature': 'v1a,AAAA',
    'x-svc-timestamp': String(NOW),
    'x-svc-signature': `sha256=${hmac}`,
  }
  t.throws(() => verifyDelivery({ headers: forged, body, secret: publicKey }), mismatch)
})

t.test('a wrong public key is a mistake of the receiver', async (t) => {
  const mistake = { name: 'InvalidVerification', statusCode: 500 }
  const wrong = ['', [], 'whsec_AAAA', publicKey.slice(0, -4), `${publicKey}AAAA`, 'whpk_!', null]
  for (const key of wrong) {
    t.throws(() => verify({ publicKey: key as never }), mistake, JSON.stringify(key))
  }
})
