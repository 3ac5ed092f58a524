import t from 'tap'
import { openReceiver } from '../../../support/receiver.ts'
import { onlyFields } from '../../../../packages/webhooks/src/outbound/settings/fields.ts'
import { startHost } from '../../support/host.ts'

const ORDER = JSON.stringify({
  id: 7,
  customer: { name: 'Zürich AG', age: 3, address: {} },
  items: [{ sku: 'a', n: 1 }, { n: 2 }, 5, null, [{ sku: 'b', n: 3 }]],
  note: null,
})

const CASES: [json: string, fields: string[], picked: string][] = [
  [ORDER, [], '{}'],
  [ORDER, ['id'], '{"id":7}'],
  [ORDER, ['note', 'id'], '{"id":7,"note":null}'],
  [ORDER, ['customer.name'], '{"customer":{"name":"Zürich AG"}}'],
  [ORDER, ['customer.name', 'customer'], '{"customer":{"name":"Zürich AG","age":3,"address":{}}}'],
  [ORDER, ['customer.address.city', 'customer.age'], '{"customer":{"age":3}}'],
  [ORDER, ['items.sku'], '{"items":[{"sku":"a"},{},{},{},[{"sku":"b"}]]}'],
  [ORDER, ['id.x', 'note.x', 'customer.name.length', 'toString', 'constructor.name'], '{}'],
  ['[{"id":1,"x":2},{"x":3}]', ['id'], '[{"id":1},{}]'],
  ['[{"id":1}]', [], '{}'],
  ['[]', ['id'], '[]'],
  ['"text"', ['id', 'length'], '{}'],
  ['null', ['id'], '{}'],
  ['{"__proto__":{"a":1},"b":2}', ['__proto__.a'], '{"__proto__":{"a":1}}'],
  [
    '{"id":12345678901234567890,"price":10.50,"zero":-0,"e":1e3}',
    ['id', 'price', 'zero', 'e'],
    '{"id":12345678901234567890,"price":10.50,"zero":-0,"e":1e3}',
  ],
  ['{"price":10.50}', ['price.rawJSON'], '{}'],
]
for (const [json, fields, picked] of CASES) {
  t.test(`${JSON.stringify(fields)} of ${json.slice(0, 60)}`, (t) => {
    t.equal(onlyFields(json, fields), picked)
    t.end()
  })
}

t.test('deliveries carry the fields that the webhook asks for', async (t) => {
  const receiver = await openReceiver(t)
  const { app, ask } = await startHost(t, {
    transforms: { shown: ({ payload }) => ({ body: { shown: payload } }) },
  })
  const { body: webhook } = await ask('POST', '', {
    url: receiver.url,
    events: 'order.created',
    fields: ['id', 'customer.name'],
    filter: { payload: { customer: { age: 3 } } },
  })
  t.match(webhook, { fields: ['id', 'customer.name'] })
  receiver.secret = webhook.secret
  const sent = async () => {
    const { length } = receiver.received
    await app.svc.events.publish('order.created', JSON.parse(ORDER))
    const request = (await receiver.waitFor(length + 1))[length]!
    t.equal(request.verified, true)
    return JSON.parse(request.raw)
  }
  const part = { id: 7, customer: { name: 'Zürich AG' } }
  t.same((await sent()).payload, part, 'and the filter sees what they do not carry')

  const patch = async (body: object) => {
    const { status, body: changed } = await ask('PATCH', `/${webhook.id}`, body)
    t.equal(status, 200)
    return changed
  }
  t.match(await patch({ transform: 'shown' }), { fields: ['id', 'customer.name'] })
  t.same(await sent(), { shown: part }, 'a transform gets them alone')
  await patch({ transform: null, fields: [] })
  t.same((await sent()).payload, {}, 'a thin delivery')
  t.match(await patch({ fields: null }), { fields: null })
  t.same((await sent()).payload, JSON.parse(ORDER))

  const wrong = ['id', [7], [''], ['a..b'], ['.a'], ['a.'], ['a\0b'], Array(51).fill('a')]
  for (const fields of wrong) {
    const { status, body } = await ask('PATCH', `/${webhook.id}`, { fields })
    t.equal(status, 400, JSON.stringify(fields).slice(0, 40))
    t.match(body, { message: /fields/ })
  }
})
