import t from 'tap'
import { bodyText, payloadByType, Sent } from '@svc/providers/internal'
import { received } from './received.ts'

const payloadTextOf = (type: string | undefined, body: Buffer) => {
  const request = received(type === undefined ? [] : [['content-type', type]], body)
  return payloadByType(new Sent(request, bodyText(request, request.rawBody)), false)
}
const FORM = 'application/x-www-form-urlencoded'
const json = (body: string | Buffer, type = 'application/json') =>
  payloadTextOf(type, Buffer.from(body as string))

/** Why a body is refused. */
function refusalOf(read: () => string): unknown {
  try {
    return read()
  } catch (error) {
    return error
  }
}

t.test('a JSON body is passed on byte for byte', async (t) => {
  const bodies = [
    '{"id":12345678901234567890,"rate":1.10,"a":1,"a":2}',
    ' [ 1e400 , -0 ]\n',
    '"\\u0000\\ud800 Zürich 🔑"',
    '{"__proto__":{"admin":true}}',
    'null',
    '['.repeat(50_000) + ']'.repeat(50_000),
  ]
  for (const body of bodies) t.equal(json(body), body, body.slice(0, 40))
})

t.test('JSON is recognised by its content type, however that is written', async (t) => {
  for (const type of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json ;charset=utf-8',
    'application/cloudevents+json',
    'application/vnd.api+json;v=1',
    'text/json',
  ]) {
    t.equal(json('{"a":1}', type), '{"a":1}', type)
  }
  for (const type of [undefined, '', 'text/plain', 'application/jsonp', 'application/x-ndjson']) {
    t.equal(payloadTextOf(type, Buffer.from('{"a":1}')), '"{\\"a\\":1}"', String(type))
  }
})

t.test('a byte order mark is no part of the payload', async (t) => {
  t.equal(json('\uFEFF{"a":1}'), '{"a":1}')
})

t.test('a body that claims to be JSON and is not is refused as such', async (t) => {
  for (const body of ['', '{', 'undefined', "{'a':1}", 'a=1', '\uFEFF', '{"a":1}\u0000', 'NaN']) {
    t.match(
      refusalOf(() => json(body)),
      { fault: 'not-json' },
      body,
    )
  }
  t.throws(() => json(Buffer.from([0x22, 0xff, 0x22])), { message: 'the body is not UTF-8' })
})

t.test('zero bytes are an empty text, unless they claim to be JSON', async (t) => {
  for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded']) {
    t.equal(payloadTextOf(type, Buffer.alloc(0)), '""', String(type))
  }
})

t.test('a form becomes an object, a repeated field an array', async (t) => {
  const form = (body: string) => JSON.parse(json(body, FORM)) as unknown
  t.strictSame(form('a=1&b=Z%C3%BCrich+%F0%9F%94%91&c'), { a: '1', b: 'Zürich 🔑', c: '' })
  t.strictSame(form('a=1&a=2&a=2'), { a: ['1', '2', '2'] })
  t.strictSame(form('payload=%7B%22x%22%3A1%7D'), { payload: '{"x":1}' })
  const hostile = form('__proto__=x&constructor=y&toString=z&%ff=%') as object
  t.strictSame(Object.keys(hostile), ['__proto__', 'constructor', 'toString', 'ÿ'])
  t.equal(Object.getPrototypeOf(hostile), Object.prototype)
})

/** A form with `count` fields, each named by `name`. */
const formOf = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => name(index)).join('&')

t.test('a form with many different names is read in time that grows with its length', async (t) => {
  const before = process.cpuUsage()
  for (let round = 0; round < 10; round++) {
    json(
      formOf(10_000, (index) => index.toString(36)),
      FORM,
    )
  }
  // A tenth of a second; a reader that looks at all fields for each name takes ten seconds.
  t.ok(process.cpuUsage(before).user < 3_000_000)
})

t.test('a form with too many fields is refused before it is read', async (t) => {
  const fields = Object.keys(JSON.parse(json(formOf(10_000, String), FORM)) as object)
  t.equal(fields.length, 10_000)
  t.match(
    refusalOf(() => json(formOf(10_001, String), FORM)),
    {
      fault: 'too-many-fields',
      expected: '10000',
    },
  )
})

t.test('a body of another content type is published as text', async (t) => {
  t.equal(json('<a>\u0000"</a>', 'text/xml'), '"<a>\\u0000\\"</a>"')
  t.equal(payloadTextOf('image/png', Buffer.from([0xff, 0x41])), '"ÿA"', 'no byte is lost')
})
