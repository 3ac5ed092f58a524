// promise: Deliveries are signed as Standard Webhooks specifies, also with ed25519, and what is signed so for one webhook is valid at no other
import { createHmac } from 'node:crypto'
import t from 'tap'
import { verifyDelivery, type VerifyDeliveryOptions } from '@svc/receiver'

const NOW = 1_700_000_000
const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const body = '{"event":"order.created","payload":{"id":42},"deliveryId":"0199"}'

const signature = (key = secret, timestamp: string | number = NOW, text = body) =>
  `sha256=${createHmac('sha256', key).update(`${timestamp}.${text}`).digest('hex')}`
const headers = { 'x-svc-timestamp': String(NOW), 'x-svc-signature': signature() }
const verify = (options: Partial<VerifyDeliveryOptions> = {}) =>
  verifyDelivery({ headers, body, secret, ...options })

t.beforeEach((t) => {
  t.intercept(Date, 'now', { value: () => NOW * 1000 })
})

t.test('a delivery is returned parsed', async (t) => {
  const { event, payload, deliveryId } = verifyDelivery<{ id: number }>({ headers, body, secret })
  t.strictSame(
    { event, id: payload.id, deliveryId },
    { event: 'order.created', id: 42, deliveryId: '0199' },
  )
})

t.test('headers are read as Node, fetch and others write them', async (t) => {
  t.ok(verify({ headers: new Headers(headers) }), 'Headers')
  t.ok(
    verify({ headers: { 'X-Svc-Timestamp': String(NOW), 'X-SVC-SIGNATURE': signature() } }),
    'capitals',
  )
  t.ok(
    verify({ headers: { 'x-svc-timestamp': [String(NOW)], 'x-svc-signature': [signature()] } }),
    'lists',
  )
  t.ok(verify({ headers: { ...headers, cookie: undefined, get: 'x' } }), 'others beside them')
})

t.test('the body may be text or bytes', async (t) => {
  const unicode = '{"payload":"Zürich 🔑"}'
  const signed = { ...headers, 'x-svc-signature': signature(secret, NOW, unicode) }
  t.ok(verify({ headers: signed, body: unicode }))
  t.ok(verify({ headers: signed, body: Buffer.from(unicode) }))
  t.ok(verify({ headers: signed, body: new TextEncoder().encode(unicode) }))
})

t.test('during a rotation either signature and either secret may match', async (t) => {
  const both = {
    'x-svc-timestamp': String(NOW),
    'x-svc-signature': signature('new'),
    'x-svc-signature-previous': signature('old'),
  }
  t.ok(verify({ headers: both, secret: 'new' }))
  t.ok(verify({ headers: both, secret: 'old' }))
  t.ok(verify({ headers: both, secret: ['other', 'old'] }))
  t.ok(verify({ headers: both, secret: ['new', 'other'] }))
  t.throws(() => verify({ headers: both, secret: ['other', 'another'] }), {
    code: 'SVC_DELIVERY_SIGNATURE_MISMATCH',
  })
})

t.test('the timestamp may be as far from now as the tolerance says, and not further', async (t) => {
  const at = (timestamp: string | number, toleranceSeconds?: number) => () =>
    verify({
      headers: {
        'x-svc-timestamp': String(timestamp),
        'x-svc-signature': signature(secret, timestamp),
      },
      ...(toleranceSeconds !== undefined && { toleranceSeconds }),
    })
  for (const good of [NOW - 300, NOW + 300]) t.ok(at(good)(), String(good))
  t.ok(at(NOW - 3600, 3600)())
  t.ok(at(NOW, 0)())
  t.ok(at(1, Number.POSITIVE_INFINITY)())
  const refused = { code: 'SVC_DELIVERY_OUTSIDE_TOLERANCE', statusCode: 401 }
  for (const bad of [NOW - 301, NOW + 301, `+${NOW}`, '1.7e9', `${NOW}.5`, '', 'NaN', 10 ** 15]) {
    t.throws(at(bad), refused, String(bad))
  }
  t.throws(at(NOW - 1, 0), refused)
})

t.test('a delivery that was not signed in this way is refused', async (t) => {
  const mismatch = {
    name: 'InvalidDelivery',
    code: 'SVC_DELIVERY_SIGNATURE_MISMATCH',
    statusCode: 401,
  }
  t.throws(() => verify({ body: `${body} ` }), mismatch, 'another body')
  t.throws(() => verify({ secret: 'other' }), mismatch, 'another secret')
  t.throws(() => verify({ secret: secret.replace('whsec_', '') }), mismatch, 'half a secret')
  const hex = signature().slice('sha256='.length)
  const junk = [
    '',
    hex,
    `sha1=${hex}`,
    `sha256=${hex.slice(2)}`,
    `sha256=${hex}00`,
    `sha256= ${hex}`,
  ]
  for (const value of [
    ...junk,
    `sha256=${hex.slice(0, -1)}z`,
    `${signature()}, ${signature()}`,
    '\u00ff'.repeat(99),
  ]) {
    t.throws(() => verify({ headers: { ...headers, 'x-svc-signature': value } }), mismatch, value)
  }
})

t.test('a header that is missing, or comes twice, is named', async (t) => {
  for (const name of ['x-svc-timestamp', 'x-svc-signature'] as const) {
    const missing = { code: 'SVC_DELIVERY_HEADER_MISSING', message: new RegExp(name) }
    const { [name]: value, ...others } = headers
    t.throws(() => verify({ headers: others }), missing)
    t.throws(() => verify({ headers: { ...headers, [name]: [value, value] } }), missing)
    t.throws(() => verify({ headers: { ...headers, [name.toUpperCase()]: value } }), missing)
  }
})

t.test('a signed body that is not JSON is not a delivery of this sender', async (t) => {
  const text = {
    headers: { ...headers, 'x-svc-signature': signature(secret, NOW, 'text') },
    body: 'text',
  }
  t.throws(() => verify(text), { code: 'SVC_DELIVERY_BODY_NOT_JSON', statusCode: 400 })
})

t.test('a mistake of the receiver has an error of its own, with status 500', async (t) => {
  const mistake = (message: RegExp) => ({ name: 'InvalidVerification', statusCode: 500, message })
  for (const empty of ['', [], [''], ['a', ''], undefined, null, [undefined]]) {
    t.throws(() => verify({ secret: empty as never }), mistake(/"secret"/), JSON.stringify(empty))
  }
  t.throws(() => verify({ body: JSON.parse(body) as never }), mistake(/"body".*parsed/))
  for (const wrong of [Number.NaN, -1, '300', null]) {
    t.throws(() => verify({ toleranceSeconds: wrong as never }), mistake(/"toleranceSeconds"/))
  }
})

t.test(
  'a secret that was replaced twice is found among the signatures of Standard Webhooks',
  async (t) => {
    const standard = (key: Buffer, id = '0199', timestamp = NOW) =>
      `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const all = (value: string) => ({
      ...headers,
      'x-svc-signature': signature('new'),
      'x-svc-signature-previous': signature('old'),
      'webhook-id': '0199',
      'webhook-timestamp': String(NOW),
      'webhook-signature': value,
    })
    t.ok(verify({ headers: all(`v1,AAAA v1a,AAAA ${standard(key)}`) }))
    const mismatch = { code: 'SVC_DELIVERY_SIGNATURE_MISMATCH' }
    for (const wrong of [
      '',
      standard(Buffer.from(secret)),
      standard(key, '0198'),
      standard(key).slice(3),
    ]) {
      t.throws(() => verify({ headers: all(wrong) }), mismatch, wrong)
    }
    for (const mistyped of ['whsec_', 'whsec_!!!!', 'whsec_AAAA']) {
      const left = Buffer.from(mistyped.slice('whsec_'.length), 'base64')
      const forged = all(standard(left))
      t.throws(() => verify({ headers: forged, secret: mistyped }), mismatch, mistyped)
    }
    const old = { ...all(standard(key, '0199', NOW - 301)), 'webhook-timestamp': String(NOW - 301) }
    t.throws(() => verify({ headers: old }), { code: 'SVC_DELIVERY_OUTSIDE_TOLERANCE' })
  },
)

t.test('the headers of a sender may begin with a prefix of its own', async (t) => {
  const own = {
    'X-Acme-Timestamp': String(NOW),
    'x-acme-signature': signature('new'),
    'x-acme-signature-previous': signature('old'),
  }
  for (const headerPrefix of ['X-Acme-', 'x-acme-']) {
    for (const one of ['new', 'old']) t.ok(verify({ headers: own, secret: one, headerPrefix }))
  }
  t.throws(() => verify({ headers: own, secret: 'new' }), { message: /x-svc-timestamp/ })
  t.throws(() => verify({ headerPrefix: 'X-Acme-' }), { message: /x-acme-timestamp/ })
  const both = { ...headers, ...own }
  t.ok(verify({ headers: both }))
  t.ok(verify({ headers: both, secret: 'old', headerPrefix: 'X-Acme-' }))
  for (const wrong of [
    '',
    'X-Acme',
    'Webhook-',
    'content-',
    '-',
    5,
    null,
    `X-${'a'.repeat(40)}-`,
  ]) {
    t.throws(
      () => verify({ headerPrefix: wrong as never }),
      { name: 'InvalidVerification', message: /"headerPrefix"/ },
      String(wrong),
    )
  }
})
