import t from 'tap'
import {
  isReadable,
  matchingFilters,
} from '../../../../packages/core/src/events/filter/matching-filters.ts'

const subject = { event: 'order.created', tenant: null, payload: { customer: 42 } }

t.test('among ten thousand webhooks those whose filters match are found', async (t) => {
  const all = Array.from({ length: 10_000 }, (_, id) => ({
    id,
    filter: JSON.stringify({ payload: { customer: id % 100 } }),
  }))
  const { matched } = matchingFilters(all, subject)
  t.same(
    matched.map(({ id }) => id),
    Array.from({ length: 100 }, (_, index) => 42 + 100 * index),
  )
})

t.test('a webhook without a filter is sent everything', async (t) => {
  const all = [{ filter: null }, { filter: '{"tenant":"acme"}' }, { filter: '{"tenant":null}' }]
  t.same(matchingFilters(all, subject), { matched: [all[0], all[2]], costly: [] })
})

t.test('a filter that this version cannot read lets nothing through', async (t) => {
  const later = '{"payload":{"customer":{"$near":1}}}'
  for (const filter of [later, '[]', 'no JSON']) {
    t.same(matchingFilters([{ filter }], subject), { matched: [], costly: [] }, filter)
    t.notOk(isReadable(filter))
  }
  t.ok(isReadable('{"tenant":"acme"}'))
})

t.test('filters beyond the memory for compiled ones are decided all the same', async (t) => {
  const padding = 'x'.repeat(4000)
  const all = Array.from({ length: 3000 }, (_, id) => ({
    id,
    filter: JSON.stringify({ payload: { customer: { $nin: [padding, id] } } }),
  }))
  for (const _ of [1, 2]) t.equal(matchingFilters(all, subject).matched.length, 2999)
})

t.test('a filter that is too much work for an event does not match it, whatever it says', (t) => {
  const items = Array.from({ length: 100_000 }, (_, n) => ({ n }))
  const long = { ...subject, payload: { items, texts: items.map(String) } }
  const conditions = Array.from({ length: 100 }, (_, n) => ({ 'payload.items.n': -n - 1 }))
  const texts = Array.from({ length: 80 }, (_, n) => ({ 'payload.texts': `x${n}` }))
  const costly = [
    { filter: JSON.stringify({ $or: conditions }) },
    { filter: JSON.stringify({ $not: { $or: conditions } }) },
    { filter: JSON.stringify({ $or: texts }) },
  ]
  const quick = { filter: JSON.stringify({ payload: { items: { n: 99_999 } } }) }
  t.same(matchingFilters([...costly, quick], long), { matched: [quick], costly })
  // The same filters are no work for another event.
  t.same(matchingFilters(costly, subject), { matched: [costly[1]], costly: [] })
  t.end()
})
