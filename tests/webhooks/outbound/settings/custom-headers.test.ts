import t from 'tap'
import {
  assertCustomHeaders as assertHeaders,
  assertNoContentType,
  assertReplacingHeaders,
  maskedHeaders,
  sentHeaders,
  type CustomHeaders,
} from '../../../../packages/webhooks/src/outbound/settings/custom-headers.ts'

const assertCustomHeaders = (headers: CustomHeaders, prefix = 'X-Acme-') =>
  assertHeaders(headers, prefix)

const filled = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'v']))

t.test('ordinary headers are accepted', async (t) => {
  const good: Record<string, string>[] = [
    {},
    { Authorization: 'Bearer abc', 'X-Api-Key': 'k', cookie: 'a=b' },
    { 'x-text': 'a\tb ü', 'x-empty': '', "!#$%&'*+-.^_`|~": 'v' },
    { 'x-long': 'x'.repeat(4096) },
    { 'content-type': 'text/xml' },
    filled(20),
  ]
  for (const headers of good) {
    t.doesNotThrow(() => assertCustomHeaders(headers), Object.keys(headers).join())
  }
})

t.test('reserved headers, framing headers and invalid headers are refused', async (t) => {
  const names = [
    'Host',
    'Content-Length',
    'transfer-encoding',
    'Connection',
    'keep-alive',
    'Upgrade',
    'TE',
    'trailer',
    'Expect',
    'Content-Encoding',
    'Proxy-Authorization',
    'proxy-connection',
    'X-Svc-Signature',
    'x-svc-anything',
    'X-Acme-Event',
    'x-acme-anything',
    'X-ACME-',
    'webhook-id',
    'Webhook-Signature',
    'webhook-timestamp',
    'User-Agent',
    'accept-encoding',
    '',
    'a b',
    'a:b',
    'ü',
    'a\r\nb',
    'x'.repeat(201),
  ]
  for (const name of names) {
    t.throws(() => assertCustomHeaders({ [name]: 'v' }), refused, JSON.stringify(name))
  }
  t.throws(() => assertCustomHeaders({ 'X-One': 'a', 'x-one': 'b' }), { message: /x-one.*twice/ })
  t.throws(() => assertCustomHeaders(filled(21)), { message: /21 headers/ })
})

const refused = { code: 'SVC_WEBHOOKS_INVALID_HEADER', statusCode: 400 }

t.test('only our own prefixes are refused, and the default one always', async (t) => {
  for (const name of ['X-Acme', 'X-Acmes', 'AX-Acme-Event', 'X-Svc', 'webhook']) {
    t.doesNotThrow(() => assertCustomHeaders({ [name]: 'v' }), name)
  }
  t.doesNotThrow(() => assertCustomHeaders({ 'X-Acme-Event': 'v' }, 'X-Svc-'))
  t.throws(() => assertCustomHeaders({ 'x-acme-event': 'v' }), { message: /begins with "X-Acme-"/ })
})

t.test(
  'headers that replace ours may have any name but those of HTTP and of the body',
  async (t) => {
    for (const name of ['X-Acme-Signature', 'x-svc-event', 'webhook-id', 'User-Agent', 'Date']) {
      t.doesNotThrow(() => assertReplacingHeaders({ [name]: 'v' }), name)
    }
    for (const name of [
      'Host',
      'content-length',
      'Transfer-Encoding',
      'Content-Type',
      'a\r\nb',
      '',
    ]) {
      t.throws(() => assertReplacingHeaders({ [name]: 'v' }), refused, name)
    }
    for (const value of ['a\r\nb', 5, undefined]) {
      t.throws(() => assertReplacingHeaders({ 'x-signature': value as string }), refused)
    }
  },
)

t.test(
  'a header that was allowed under another prefix is not sent beside one of ours',
  async (t) => {
    const headers = { 'x-acme-signature': 'a', 'X-Other': 'b', 'X-Acme': 'c' }
    t.same(sentHeaders(headers, 'X-Acme-'), [
      ['X-Other', 'b'],
      ['X-Acme', 'c'],
    ])
  },
)

t.test('a value that could end its line, is too long or is a mask is refused', async (t) => {
  for (const value of [
    'a\r\nb',
    'a\nb',
    'a\0',
    'ż',
    '😀',
    'x'.repeat(4097),
    '***',
    'svcenc:v1:a',
    5,
    null,
  ]) {
    t.throws(() => assertCustomHeaders({ 'x-secret': value as string }), refused, String(value))
  }
})

t.test('an error names the header, and not its value', async (t) => {
  try {
    assertCustomHeaders({ 'x-secret': 'hidden\n' })
    t.fail('it is refused')
  } catch (error) {
    t.match((error as Error).message, /x-secret/)
    t.notMatch((error as Error).message, /hidden/)
  }
})

t.test('the content type is that of a transform', async (t) => {
  const typed = { 'Content-Type': 'text/xml' }
  t.throws(() => assertNoContentType(typed), { message: /only with a transform/ })
  t.doesNotThrow(() => assertNoContentType({ 'x-one': 'a' }))
  t.doesNotThrow(() => assertNoContentType(null))
})

t.test('a mask hides the values of fields and shows their names', async (t) => {
  t.same(maskedHeaders({ 'X-One': 'secret', b: '' }), { 'X-One': '***', b: '***' })
  t.equal(maskedHeaders(null), null)
})
