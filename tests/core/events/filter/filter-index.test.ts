import t from 'tap'
import { FilterIndex } from '../../../../packages/core/src/events/filter/filter-index.ts'
import { neededValues } from '../../../../packages/core/src/events/filter/needed-values.ts'
import { EventValues } from '../../../../packages/core/src/events/filter/event-values.ts'

const subject = { event: 'order.created', tenant: null, payload: { customer: 42 } }
const matches = <One extends { filter: string }>(all: One[], about: typeof subject = subject) =>
  new FilterIndex(all).matches(new EventValues(about))

t.test('the index finds the values that an event must have for a filter to match', async (t) => {
  const total = { path: ['payload', 'total'], value: 1 }
  const type = { path: ['payload', 'type'], value: 'a' }
  const cases: [object, unknown[]][] = [
    [{ 'payload.total': 1, payload: { type: { $eq: 'a' } } }, [[total], [type]]],
    [{ payload: { total: { $in: [1, 2] } } }, [[total, { ...total, value: 2 }]]],
    [{ $or: [{ 'payload.total': 1 }, { 'payload.type': 'a' }] }, [[total, type]]],
    [{ $and: [{ 'payload.total': 1 }, { 'payload.type': { $ne: 'a' } }] }, [[total]]],
    [{ payload: { $or: [{ total: 1 }, { type: { $startsWith: 'a' } }] } }, []],
    [{ payload: { total: { $or: [1, { $gt: 5 }] } } }, []],
    [{ $not: { 'payload.total': 1 } }, []],
    [{ payload: { total: { $not: 1, $ne: 2, $nin: [3], $exists: true, $lt: 9 } } }, []],
    [{ 'payload.total': null, 'payload.type': ['a'] }, []],
    [{ 'payload.total': { $in: [1, null] } }, []],
    [{ 'payload.total': { $in: Array.from({ length: 33 }, (_, n) => n) } }, []],
    [{ 'payload.total': { $in: [] } }, [[]]],
    [{}, []],
  ]
  for (const [filter, needs] of cases) {
    t.strictSame(neededValues(filter), needs, JSON.stringify(filter))
  }
})

t.test('among ten thousand webhooks those whose filters match are found', async (t) => {
  const all = Array.from({ length: 10_000 }, (_, id) => ({
    id,
    filter: JSON.stringify({ payload: { customer: id % 100 } }),
  }))
  t.same(
    matches(all).matched.map(({ id }) => id),
    Array.from({ length: 100 }, (_, index) => 42 + 100 * index),
  )
})

t.test('of ten thousand filters only those that may match are evaluated', async (t) => {
  // Each asks for a type and a kind that all ask for, and for a customer of its own.
  const all = Array.from({ length: 10_000 }, (_, id) => ({
    filter: JSON.stringify({ payload: { type: 'a', customer: id, kind: { $in: ['b', 'c'] } } }),
  }))
  const index = new FilterIndex(all)
  const payload = { type: 'a', kind: 'b', customer: 42 }
  let asked = 0
  class Counted extends EventValues {
    override valuesAt(...given: Parameters<EventValues['valuesAt']>) {
      asked++
      return super.valuesAt(...given)
    }
  }
  const event = new Counted({ ...subject, payload })
  t.same(index.matches(event).matched, [all[42]])
  t.ok(asked < 10, `${asked} times`)
})

t.test('a filter that this version cannot read matches nothing', async (t) => {
  const later = '{"payload":{"customer":{"$near":1}}}'
  for (const filter of [later, '[]', 'no JSON']) {
    t.same(matches([{ filter }]), { matched: [], costly: [] }, filter)
    t.same(new FilterIndex([{ filter }]).unreadable, [{ filter }])
  }
  t.same(new FilterIndex([{ filter: '{"tenant":"acme"}' }]).unreadable, [])
})

t.test('a filter that needs too many steps for an event does not match it', (t) => {
  const items = Array.from({ length: 100_000 }, (_, n) => ({ n }))
  const texts = items.map(String)
  const long = { ...subject, payload: { ...subject.payload, items, texts } }
  const conditions = Array.from({ length: 100 }, (_, n) => ({ 'payload.items.n': -n - 1 }))
  const ofTexts = Array.from({ length: 80 }, (_, n) => ({
    'payload.texts': { $endsWith: `x${n}` },
  }))
  const costly = [
    { filter: JSON.stringify({ $not: { $or: conditions } }) },
    { filter: JSON.stringify({ $or: ofTexts }) },
  ]
  const quick = { filter: JSON.stringify({ payload: { items: { n: 99_999 } } }) }
  t.same(matches([...costly, quick], long), { matched: [quick], costly })
  // The same filters are no work for another event.
  t.same(matches(costly), { matched: [costly[0]], costly: [] })
  t.end()
})

t.test('a filter costs the same whether others use the same values or not', (t) => {
  // Twelve times through the list are too much work, ten are not.
  const payload = { list: Array.from({ length: 90_000 }, (_, n) => n) }
  const asking = (times: number) =>
    JSON.stringify({ $and: Array.from({ length: times }, () => ({ 'payload.list': { $gte: 0 } })) })
  const [dear, cheap] = [{ filter: asking(12) }, { filter: asking(10) }]
  for (const all of [[dear], [cheap, dear], [dear, cheap]]) {
    const { matched, costly } = matches(all, { ...subject, payload } as never)
    t.same([matched, costly], [all.filter((one) => one === cheap), [dear]])
  }
  t.end()
})
