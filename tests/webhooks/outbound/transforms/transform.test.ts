import t from 'tap'
import {
  checkedSignature,
  checkedTransformed,
} from '../../../../packages/webhooks/src/outbound/transforms/transform.ts'

const checked = (returned: unknown) => checkedTransformed(returned, 'X-Acme-')

const sent = (returned: unknown) => {
  const { body, headers } = checked(returned)!
  return { body, ...Object.fromEntries(headers) }
}

t.test('a body is sent as text, or as JSON', async (t) => {
  t.same(sent({ body: 'hello' }), { body: 'hello', 'content-type': 'text/plain; charset=utf-8' })
  t.same(sent({ body: '' }), { body: '', 'content-type': 'text/plain; charset=utf-8' })
  t.same(sent({ body: { a: 1 } }), { body: '{"a":1}', 'content-type': 'application/json' })
  t.same(sent({ body: [1] }), { body: '[1]', 'content-type': 'application/json' })
})

t.test('the type of the content and headers may be given', async (t) => {
  t.same(sent({ body: '<a/>', contentType: 'text/xml', headers: { 'X-One': '1' } }), {
    body: '<a/>',
    'content-type': 'text/xml',
    'x-one': '1',
  })
  t.same(sent({ body: '', headers: { 'Content-Type': 'text/xml' } }), {
    body: '',
    'content-type': 'text/xml',
  })
})

t.test('null skips the delivery', async (t) => {
  t.equal(checked(null), null)
})

t.test('a transform that returns another shape is an error with the reason', async (t) => {
  const wrong: [unknown, RegExp][] = [
    [undefined, /must return/],
    ['text', /must return/],
    [[], /must return/],
    [{}, /body/],
    [{ body: 5 }, /body/],
    [{ body: null }, /body/],
    [{ body: { toJSON: () => undefined } }, /body/],
    [{ body: Promise.resolve('late') }, /body/],
    [{ body: Buffer.from('bytes') }, /body/],
    [{ body: new Map([['a', 1]]) }, /body/],
    [{ body: '', contentType: 5 }, /contentType/],
    [{ body: '', contentType: '' }, /contentType/],
    [{ body: '', contentType: 'a\r\nb: c' }, /content-type/],
    [{ body: '', headers: [] }, /headers/],
    [{ body: '', headers: new Headers({ a: 'b' }) }, /headers of a transform must be an object/],
    [{ body: '', headers: { a: '1', A: '2' } }, /twice/],
    [{ body: '', sign: {} }, /sign of a transform must be a function/],
    [{ body: '', headers: { host: 'x' } }, /host/],
    [{ body: '', headers: { 'X-Svc-Signature': 'x' } }, /X-Svc-Signature/],
    [{ body: '', headers: { 'x-acme-event': 'x' } }, /x-acme-event/],
    [{ body: '', headers: { a: 5 } }, /header a/],
  ]
  for (const [returned, message] of wrong) t.throws(() => checked(returned), { message })
})

t.test('a signature is an object of texts by names that are free', async (t) => {
  t.same(checkedSignature({ 'X-Acme-Signature': 'a', 'webhook-id': 'b' }), {
    'X-Acme-Signature': 'a',
    'webhook-id': 'b',
  })
  const wrong: [unknown, RegExp][] = [
    [undefined, /what the sign of a transform returns must be an object/],
    [null, /must be an object/],
    ['text', /must be an object/],
    [[['a', 'b']], /must be an object/],
    [new Map([['a', 'b']]), /must be an object/],
    [new Headers({ a: 'b' }), /must be an object/],
    [new Error('returned, and not thrown'), /must be an object/],
    [new Date(), /must be an object/],
    [{ a: undefined }, /value of the header a must be a text/],
    [{ a: Promise.resolve('b') }, /value of the header a must be a text/],
    [{ a: 'b\r\nc: d' }, /value of the header a must be a text of one line/],
    [{ 'a\r\nc': 'd' }, /is not a name of a header/],
    [{ Host: 'a' }, /the header Host belongs to HTTP itself/],
    [{ 'Content-Length': '1' }, /Content-Length belongs to HTTP/],
    [{ 'transfer-encoding': 'chunked' }, /belongs to HTTP/],
    [{ 'Content-Type': 'text/plain' }, /Content-Type is that of the body/],
    [{ a: '1', A: '2' }, /twice/],
  ]
  for (const [returned, message] of wrong) t.throws(() => checkedSignature(returned), { message })
})

t.test('what is sent is what was checked', async (t) => {
  const changing = () => {
    let reads = 0
    return {
      get a() {
        return reads++ === 0 ? 'text' : 'text\r\nhost: other'
      },
    }
  }
  t.same(checkedSignature(changing()), { a: 'text' })
  t.match(sent({ body: '', headers: changing() }), { a: 'text' })
  const names = [['a'], ['host']]
  const renaming = new Proxy({ a: '', host: '' }, { ownKeys: () => names.shift() ?? ['host'] })
  t.same(checkedSignature(renaming), { a: '' })
})
