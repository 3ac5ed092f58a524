import t from 'tap'
import { compileFilter } from '../../../../packages/core/src/events/filter/compile-filter.ts'

const subject = {
  event: 'order.created',
  tenant: 'acme',
  payload: JSON.parse(`{
    "id": 7, "total": 99.5, "currency": "EUR", "paid": false, "note": null, "empty": "",
    "createdAt": "2026-03-01T10:00:00Z", "0": "zero", "a.b": "dotted",
    "customer": { "name": "Ada", "address": { "city": "Zürich" } },
    "tags": ["new", "vip"], "numbers": [1, 5, 9], "none": [],
    "items": [{ "sku": "book", "qty": 1 }, { "sku": "pen", "qty": 10, "tags": ["blue"] }, {}],
    "matrix": [[1, 2], [3]], "mixed": [null, { "x": 1 }],
    "constructor": "Ferrari", "__proto__": { "admin": true }
  }`) as unknown,
}

/** Filters that match the subject, and filters that do not. */
const table: Record<string, { matches: object[]; doesNot: object[] }> = {
  'an empty filter lets everything through': {
    matches: [{}, { $and: [{}] }],
    doesNot: [{ $not: {} }],
  },
  'event, tenant and payload are looked at': {
    matches: [
      { event: 'order.created' },
      { event: { $startsWith: 'order.' }, tenant: 'acme', payload: { currency: 'EUR' } },
      { tenant: { $in: ['acme', 'other'] } },
    ],
    doesNot: [{ event: 'order' }, { tenant: null }, { tenant: { $exists: false } }],
  },
  'paths are nested objects, dots, or both': {
    matches: [
      { payload: { customer: { address: { city: 'Zürich' } } } },
      { 'payload.customer.address.city': 'Zürich' },
      { payload: { 'customer.address': { city: 'Zürich' } } },
      { payload: { customer: { name: 'Ada', address: { city: { $endsWith: 'rich' } } } } },
      { 'payload.0': 'zero' },
    ],
    doesNot: [
      { 'payload.customer.city': 'Zürich' },
      { payload: { 'a.b': 'dotted' } },
      { payload: { customer: { name: 'Ada', address: { city: 'Bern' } } } },
    ],
  },
  'an object of fields is a condition on each, and not equality': {
    matches: [
      { payload: { customer: { name: 'Ada' } } },
      { payload: { customer: { $eq: { address: { city: 'Zürich' }, name: 'Ada' } } } },
    ],
    doesNot: [{ payload: { customer: { $eq: { name: 'Ada' } } } }],
  },
  'values are compared by type and value': {
    matches: [{ payload: { id: 7, total: 99.5, paid: false, empty: '' } }, { 'payload.id': 7.0 }],
    doesNot: [
      { payload: { id: '7' } },
      { payload: { paid: null } },
      { payload: { paid: 0 } },
      { payload: { empty: null } },
      { payload: { currency: 'eur' } },
    ],
  },
  'null stands for null and for what is missing': {
    matches: [
      { payload: { note: null, missing: null } },
      { payload: { note: { $in: [null, 1] }, missing: { $in: [null] } } },
      { 'payload.customer.phone': null },
      { 'payload.id.deeper': null },
      { payload: { items: { qty: null } } },
      { payload: { mixed: null } },
    ],
    doesNot: [
      { payload: { id: null } },
      { payload: { note: { $ne: null } } },
      { payload: { missing: { $ne: null } } },
      { payload: { missing: { $nin: [null] } } },
    ],
  },
  'what is missing equals no value, and differs from each': {
    matches: [{ payload: { missing: { $ne: 1 } } }, { payload: { missing: { $nin: [1, 2] } } }],
    doesNot: [
      { payload: { missing: 1 } },
      { payload: { missing: { $gt: 0 } } },
      { payload: { missing: { $lte: 0 } } },
      { payload: { missing: { $contains: '' } } },
      { payload: { missing: { $startsWith: '' } } },
    ],
  },
  '$exists asks for the field, whatever it holds': {
    matches: [
      { payload: { note: { $exists: true }, missing: { $exists: false } } },
      { 'payload.items.qty': { $exists: true } },
      { 'payload.none': { $exists: true } },
      { 'payload.none.sku': { $exists: false } },
      { payload: { $exists: true } },
    ],
    doesNot: [{ payload: { note: { $exists: false } } }, { 'payload.id.a': { $exists: true } }],
  },
  'numbers compare with numbers and texts with texts': {
    matches: [
      { payload: { total: { $gt: 99, $lt: 100, $gte: 99.5, $lte: 99.5 } } },
      { payload: { currency: { $gt: 'EUQ', $lte: 'EUR' } } },
    ],
    doesNot: [
      { payload: { total: { $gt: 99.5 } } },
      { payload: { total: { $gt: '1' } } },
      { payload: { total: { $lt: '999' } } },
      { payload: { currency: { $gt: 1 } } },
      { payload: { paid: { $gte: 0 } } },
      { payload: { note: { $lte: 0 } } },
      { payload: { customer: { $gt: '' } } },
    ],
  },
  'dates are texts, and compare as texts': {
    matches: [
      { payload: { createdAt: { $gte: '2026-03-01', $lt: '2026-04' } } },
      { payload: { createdAt: { $startsWith: '2026-03' } } },
    ],
    doesNot: [{ payload: { createdAt: { $lt: '2026-03-01T09:59:59Z' } } }],
  },
  '$in and $nin take any values': {
    matches: [
      { payload: { id: { $in: [1, 7] } } },
      { payload: { id: { $nin: [] } } },
      { payload: { customer: { address: { $in: [{ city: 'Zürich' }] } } } },
      { payload: { tags: { $in: [['new', 'vip']] } } },
    ],
    doesNot: [
      { payload: { id: { $in: [] } } },
      { payload: { id: { $in: ['7'] } } },
      { payload: { id: { $nin: [7] } } },
      { payload: { tags: { $nin: ['vip'] } } },
    ],
  },
  'a list matches where one of its elements does': {
    matches: [
      { payload: { tags: 'vip' } },
      { payload: { tags: { $startsWith: 'vi' } } },
      { payload: { numbers: { $gt: 8 } } },
      // Each by an element of its own, as in MongoDB.
      { payload: { numbers: { $gt: 8, $lt: 2 } } },
      { payload: { tags: ['new', 'vip'] } },
      { payload: { none: [] } },
      { payload: { matrix: [3] } },
    ],
    doesNot: [
      { payload: { tags: 'vi' } },
      { payload: { tags: ['vip', 'new'] } },
      { payload: { tags: ['new'] } },
      { payload: { tags: { $ne: 'vip' } } },
      { payload: { numbers: { $gt: 9 } } },
      { payload: { none: { $gt: 0 } } },
      { payload: { matrix: 3 } },
    ],
  },
  'a path leads through the elements of a list, or to one by its index': {
    matches: [
      { 'payload.items.sku': 'pen' },
      { payload: { items: { sku: 'book', qty: { $gte: 10 } } } },
      { 'payload.items.1.sku': 'pen' },
      { 'payload.items.tags': 'blue' },
      { 'payload.tags.0': 'new' },
      { 'payload.matrix.0.1': 2 },
    ],
    doesNot: [
      { 'payload.items.0.sku': 'pen' },
      { 'payload.items.sku': { $ne: 'pen' } },
      { 'payload.tags.01': 'vip' },
      { 'payload.tags.2': { $exists: true } },
      { 'payload.tags.length': 2 },
    ],
  },
  '$contains is a piece of a text, or an element of a list': {
    matches: [
      { payload: { currency: { $contains: 'U' } } },
      { payload: { currency: { $contains: '' } } },
      { payload: { tags: { $contains: 'vip' } } },
      { payload: { numbers: { $contains: 5 } } },
      { payload: { matrix: { $contains: [1, 2] } } },
      { payload: { items: { $contains: { qty: 1, sku: 'book' } } } },
      { 'payload.items.sku': { $contains: 'oo' } },
      { payload: { mixed: { $contains: null } } },
    ],
    doesNot: [
      { payload: { tags: { $contains: 'vi' } } },
      { payload: { numbers: { $contains: '5' } } },
      { payload: { id: { $contains: 7 } } },
      { payload: { items: { $contains: { sku: 'book' } } } },
    ],
  },
  '$and, $or and $not stand at the root, and at a field': {
    matches: [
      { $or: [{ event: 'x' }, { payload: { id: 7 } }] },
      { $and: [{ event: 'order.created' }, { tenant: 'acme' }] },
      { $not: { tenant: 'other' } },
      { payload: { $or: [{ id: 1 }, { currency: 'EUR' }] } },
      { payload: { total: { $or: [{ $lt: 10 }, { $gt: 90 }] } } },
      { payload: { currency: { $or: ['EUR', 'CHF'] } } },
      { payload: { total: { $not: { $gt: 100 } } } },
      { payload: { missing: { $not: { $gt: 100 } } } },
      { payload: { currency: { $not: 'CHF' } } },
    ],
    doesNot: [
      { $or: [{ event: 'x' }, { tenant: 'y' }] },
      { $and: [{ event: 'order.created' }, { tenant: 'y' }] },
      { $not: { tenant: 'acme', event: 'order.created' } },
      { payload: { total: { $not: { $gt: 1 } } } },
      { tenant: 'acme', $or: [{ event: 'x' }] },
    ],
  },
  'only own fields are read': {
    matches: [
      { payload: { constructor: 'Ferrari' } },
      { payload: { toString: null } },
      { 'payload.customer.constructor': { $exists: false } },
    ],
    doesNot: [
      { payload: { toString: { $exists: true } } },
      { 'payload.customer.constructor.name': 'Object' },
      { 'payload.currency.length': 3 },
      { 'payload.admin': true },
    ],
  },
}

for (const [title, { matches, doesNot }] of Object.entries(table)) {
  t.test(title, async (t) => {
    for (const filter of matches) t.equal(compileFilter(filter)(subject), true, textOf(filter))
    for (const filter of doesNot) t.equal(compileFilter(filter)(subject), false, textOf(filter))
  })
}

t.test('a number that JSON rounds equals none that a filter may have', async (t) => {
  const decide = (filter: object, payload: string) =>
    compileFilter({ payload: { n: filter } })({
      event: 'e',
      tenant: null,
      payload: JSON.parse(payload),
    })
  const most = Number.MAX_SAFE_INTEGER
  for (const large of ['9007199254740992', '9007199254740993', '1e400']) {
    const payload = `{"n":${large}}`
    t.ok(decide({ $gt: most }, payload), large)
    t.ok(decide({ $nin: [most, 0] }, payload), large)
    for (const filter of [{ $eq: most }, { $in: [most] }, { $lte: most }, { $contains: most }]) {
      t.notOk(decide(filter, payload), `${large} ${JSON.stringify(filter)}`)
    }
    t.ok(decide({ $lt: -most }, `{"n":-${large}}`), large)
  }
  t.ok(decide({ $eq: most }, '{"n":9007199254740991}'))
  t.ok(decide({ $in: [0] }, '{"n":-0}'))
  t.ok(decide({ $eq: -0 }, '{"n":0.0}'))
  t.ok(decide({ $eq: 1 }, '{"n":1.0}'))
  t.ok(decide({ $eq: 0.1 }, '{"n":1e-1}'))
})

function textOf(filter: unknown): string {
  return JSON.stringify(filter).slice(0, 200)
}

t.test('a filter compares a payload that is not an object as a whole', async (t) => {
  const decide = (filter: object, payload: unknown) =>
    compileFilter(filter)({ event: 'e', tenant: null, payload })
  t.ok(decide({ payload: 'text' }, 'text'))
  t.ok(decide({ payload: null }, null))
  t.ok(decide({ tenant: null }, 1))
  t.ok(decide({ payload: { $gt: 4 } }, 5))
  t.ok(decide({ payload: { sku: 'pen' } }, [{ sku: 'book' }, { sku: 'pen' }]))
  t.notOk(decide({ payload: { sku: 'pen' } }, 'pen'))
})
