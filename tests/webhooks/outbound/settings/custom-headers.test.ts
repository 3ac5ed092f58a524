import t from 'tap'
import {
  assertContentType,
  assertCustomHeaders,
  maskedHeaders,
} from '../../../../packages/webhooks/src/outbound/settings/custom-headers.ts'

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
  t.throws(() => assertContentType(typed, null), { message: /only with a transform/ })
  t.doesNotThrow(() => assertContentType(typed, 'slack'))
  t.doesNotThrow(() => assertContentType({ 'x-one': 'a' }, null))
  t.doesNotThrow(() => assertContentType(null, null))
})

t.test('a mask hides the values of fields and shows their names', async (t) => {
  t.same(maskedHeaders({ 'X-One': 'secret', b: '' }), { 'X-One': '***', b: '***' })
  t.equal(maskedHeaders(null), null)
})
