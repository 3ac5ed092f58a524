import t from 'tap'
import { checkedTransformed } from '../../../../packages/webhooks/src/outbound/transforms/transform.ts'

const checked = (returned: unknown) => checkedTransformed(returned, 'X-Acme-')

const sent = (returned: unknown) => {
  const { body, headers } = checked(returned)!
  return { body: body.toString(), ...Object.fromEntries(headers) }
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
    [{ body: '', contentType: 5 }, /contentType/],
    [{ body: '', contentType: '' }, /contentType/],
    [{ body: '', contentType: 'a\r\nb: c' }, /content-type/],
    [{ body: '', headers: [] }, /headers/],
    [{ body: '', headers: { host: 'x' } }, /host/],
    [{ body: '', headers: { 'X-Svc-Signature': 'x' } }, /X-Svc-Signature/],
    [{ body: '', headers: { 'x-acme-event': 'x' } }, /x-acme-event/],
    [{ body: '', headers: { a: 5 } }, /header a/],
  ]
  for (const [returned, message] of wrong) t.throws(() => checked(returned), { message })
})
