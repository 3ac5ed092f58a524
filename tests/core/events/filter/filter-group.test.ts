import t from 'tap'
import { compileFilterMatch } from '../../../../packages/core/src/events/filter/compile-filter.ts'
import { DeferredFilters } from '../../../../packages/core/src/events/filter/deferred-filters.ts'
import { EventValues } from '../../../../packages/core/src/events/filter/event-values.ts'
import {
  decideFilters,
  FilterGroup,
} from '../../../../packages/core/src/events/filter/filter-group.ts'
import { MOST_STEPS, WorkBound } from '../../../../packages/core/src/events/filter/work-bound.ts'

interface One {
  filter: string
}

const subject = { event: 'order.created', tenant: null, payload: { customer: 42 } as object }
const decide = <Some extends One>(group: FilterGroup<Some>, payload: object = subject.payload) =>
  decideFilters([group], new EventValues({ ...subject, payload }))
const of = (filter: object): One => ({ filter: JSON.stringify(filter) })

const long = {
  customer: 42,
  items: Array.from({ length: 20_000 }, (_, n) => ({ sku: `sku-${n}` })),
}
const dear = (n: number, sku = `zz${n}`): One =>
  of({
    $or: Array.from({ length: 16 }, (_, m) => ({
      'payload.items.sku': { $contains: `${sku}_${m}` },
    })),
  })

t.test('among ten thousand webhooks those whose filters match are found', async (t) => {
  const all = Array.from({ length: 10_000 }, (_, id) => ({
    id,
    filter: JSON.stringify({ payload: { customer: id % 100 } }),
  }))
  const { matched, undecided } = decide(new FilterGroup(all))
  t.same(
    matched.map(({ id }) => id),
    Array.from({ length: 100 }, (_, index) => 42 + 100 * index),
  )
  t.same(undecided, [])
})

t.test('one filter of very many webhooks is decided for all of them', async (t) => {
  const { filter } = of({ payload: { customer: 42 } })
  const all = Array.from({ length: 200_000 }, () => ({ filter }))
  t.equal(decide(new FilterGroup(all)).matched.length, all.length)
})

t.test('a filter that this version cannot read matches nothing', async (t) => {
  for (const filter of ['{"payload":{"customer":{"$near":1}}}', '[]', 'no JSON']) {
    const group = new FilterGroup([{ filter }])
    t.match(decide(group), { matched: [], undecided: [] }, filter)
    t.same(group.unreadable, [{ filter }])
  }
  t.same(new FilterGroup([of({ tenant: 'acme' })]).unreadable, [])
})

t.test(
  'filters of one event have one budget, and those that are not dear come first',
  async (t) => {
    const cheap = Array.from({ length: 100 }, (_, n) =>
      of({ payload: { customer: 42, other: { $ne: n } } }),
    )
    const many = Array.from({ length: 200 }, (_, n) => dear(n))
    const group = new FilterGroup([...many, ...cheap])
    // The first events show which of them are dear.
    for (let event = 0; event < 25; event++) {
      const { undecided, steps } = decide(group, long)
      t.ok(many.every((one) => undecided.includes(one)))
      t.ok(steps <= 200_001, String(steps))
    }
    const { matched, undecided } = decide(group, long)
    t.same(matched, cheap)
    t.same(undecided.toSorted(), many.toSorted())
    // For another event they are not.
    t.match(decide(group), { matched: cheap, undecided: [] })
  },
)

t.test('a list of objects costs as much as the comparisons with each of them', async (t) => {
  const objects = Array.from({ length: 300 }, (_, n) => ({ a: n }))
  for (const operator of ['$in', '$nin']) {
    const match = compileFilterMatch({ 'payload.items': { [operator]: objects } })
    const work = new WorkBound()
    t.equal(match(new EventValues({ ...subject, payload: long }), work), null, operator)
    t.ok(work.used > MOST_STEPS)
  }
})

t.test('equal paths are followed once', async (t) => {
  const items = Array.from({ length: 500 }, (_, n) => ({ sku: `sku-${n}` }))
  const all = Array.from({ length: 10 }, (_, n) => of({ 'payload.items.sku': `sku-${n}` }))
  const { matched, steps } = decide(new FilterGroup(all), { items })
  t.equal(matched.length, 10)
  // Ten times the 500 values, and once the way to them.
  t.ok(steps < 8000, String(steps))
})

t.test('what a publish does not reach is decided later, with rests for others', async (t) => {
  const filters = new DeferredFilters()
  let turns = 0
  let isDone = false
  const others = (async () => {
    for (; !isDone; turns++) await new Promise((resolve) => setTimeout(resolve, 1))
  })()
  const payload = filters.parsed(JSON.stringify({ items: long.items.slice(0, 5000) }))
  const later = (one: One) =>
    filters.decide(compileFilterMatch(JSON.parse(one.filter)), () => ({ ...subject, payload }))
  const hit = of({ $or: [JSON.parse(dear(1).filter), { 'payload.items.sku': 'sku-4999' }] })
  // Each takes one to two milliseconds here: a rest follows each third of them, or each one on a busy machine.
  const missed = await Promise.all(Array.from({ length: 40 }, (_, n) => later(dear(n))))
  const found = await later(hit)
  isDone = true
  await others
  t.ok(missed.every(({ isMatch, steps }) => isMatch === false && steps > 20_000))
  t.same(found.isMatch, true)
  t.equal(missed[0]?.steps, missed[39]?.steps, 'it costs the same whoever came before')
  t.ok(turns > 5, `others had ${turns} turns`)

  const endless = of({
    $or: Array.from({ length: 60 }, (_, n) => ({ 'payload.items.sku': { $endsWith: `x${n}` } })),
  })
  const whole = () => ({ ...subject, payload: long })
  const decided = filters.decide(compileFilterMatch(JSON.parse(endless.filter)), whole)
  t.same(await decided, { isMatch: null, steps: MOST_STEPS })
  await t.rejects(
    filters.decide(compileFilterMatch({ payload: { a: 1 } }), () => {
      throw new Error('no payload')
    }),
    { message: 'no payload' },
  )
})
