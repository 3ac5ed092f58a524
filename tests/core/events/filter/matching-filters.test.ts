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
  const found = matchingFilters(all, subject)
  t.same(
    found.map(({ id }) => id),
    Array.from({ length: 100 }, (_, index) => 42 + 100 * index),
  )
})

t.test('a webhook without a filter is sent everything', async (t) => {
  const all = [{ filter: null }, { filter: '{"tenant":"acme"}' }, { filter: '{"tenant":null}' }]
  t.same(matchingFilters(all, subject), [all[0], all[2]])
})

t.test('a filter that this version cannot read lets nothing through', async (t) => {
  const later = '{"payload":{"customer":{"$near":1}}}'
  for (const filter of [later, '[]', 'no JSON']) {
    t.same(matchingFilters([{ filter }], subject), [], filter)
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
  for (const _ of [1, 2]) t.equal(matchingFilters(all, subject).length, 2999)
})
