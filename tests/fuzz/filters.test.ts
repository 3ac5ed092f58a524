// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
import fc from 'fast-check'
import t from 'tap'
import { compileFilter } from '../../packages/core/src/events/filter/compile-filter.ts'
import { decideFilters, FilterGroup } from '../../packages/core/src/events/filter/filter-group.ts'
import { EventValues } from '../../packages/core/src/events/filter/event-values.ts'
import { isEventName } from '../../packages/core/src/events/validate-event.ts'
import {
  publishedEventId,
  storedEventId,
  tenantOfEvent,
} from '../../packages/core/src/events/event-id.ts'
import { isTenant } from '../../packages/core/src/tenants/tenants.ts'
import { isUuid } from '../../packages/core/src/ids.ts'
import { fuzz, textOf, throwsOnly, words } from './fuzz.ts'

const name = fc.constantFrom(
  ...words('payload event tenant payload.a payload.a.b a b 0 __proto__'),
  ...words('constructor toString $and $or $not $eq $ne $gt $in $nin'),
  '$exists',
  '$startsWith',
  '$contains',
  '$endsWith',
  '$where',
  '$regex',
  '$expr',
  '',
)
const scalar = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.double(), fc.boolean())
const { filter } = fc.letrec((tie) => ({
  filter: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    scalar,
    fc.constant(null),
    fc.array(tie('filter'), { maxLength: 4 }),
    fc
      .array(fc.tuple(name, tie('filter')), { maxLength: 4 })
      // As JSON.parse makes them: `__proto__` is a field of its own.
      .map((entries) => Object.fromEntries(entries)),
  ),
}))
const payload = fc.jsonValue({ maxDepth: 6 })

t.test('a filter is refused by its own error, or decides by true or false', (t) =>
  fuzz(t, fc.tuple(filter, payload), ([given, value]) =>
    throwsOnly(['SVC_CORE_INVALID_FILTER'], () => {
      const verdict: unknown = compileFilter(given)({ event: 'a', tenant: null, payload: value })
      if (typeof verdict !== 'boolean') throw new Error(`it says ${String(verdict)}`)
      if (({} as { polluted?: unknown }).polluted) throw new Error('a prototype was changed')
    }),
  ),
)

t.test('a filter and its negation never agree', (t) =>
  fuzz(t, fc.tuple(filter, payload), ([given, value]) =>
    throwsOnly(['SVC_CORE_INVALID_FILTER'], () => {
      const subject = { event: 'a', tenant: 'b', payload: value }
      const decide = compileFilter({ $and: [given] })
      const negated = compileFilter({ $not: given })
      if (decide(subject) === negated(subject)) throw new Error('both say the same')
    }),
  ),
)

// Few names and values, so that filters often match.
const value = fc.constantFrom(0, 1, 'a', true, null)
const { condition } = fc.letrec((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.dictionary(
      fc.constantFrom('payload.a', 'payload.b', 'payload.a.b', 'event', 'tenant'),
      value,
      {
        minKeys: 1,
        maxKeys: 3,
      },
    ),
    fc.record({ 'payload.a': fc.record({ $in: fc.array(value, { maxLength: 3 }) }) }),
    fc.record({ payload: fc.record({ b: fc.record({ $gte: fc.constantFrom(0, 'a') }) }) }),
    fc.record({ 'payload.b': fc.record({ $ne: value }) }),
    fc.record({ $and: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ $or: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ $not: tie('condition') }),
  ),
}))
const part = fc.oneof(value, fc.array(value, { maxLength: 3 }), fc.record({ b: value }))
const published = fc.record(
  { a: fc.oneof(part, fc.array(part, { maxLength: 3 })), b: part },
  { requiredKeys: [] },
)

t.test('a group finds the same filters as evaluating each of them', (t) =>
  fuzz(t, fc.tuple(fc.array(condition, { maxLength: 20 }), published), ([filters, payload]) => {
    const subject = { event: 'a', tenant: null, payload }
    const all = filters.map((one) => ({ filter: JSON.stringify(one) }))
    const { matched, undecided } = decideFilters([new FilterGroup(all)], new EventValues(subject))
    if (undecided.length > 0) throw new Error('some are not decided')
    const found = new Set(matched)
    for (const [place, one] of all.entries()) {
      const isMatch = compileFilter(filters[place])(subject)
      if (found.has(one) !== isMatch) throw new Error(`${one.filter} should be ${isMatch}`)
    }
  }),
)

t.test('an id of an event is read back as it was given, for every tenant', (t) => {
  const tenant = fc.oneof(fc.constant(null), textOf('acme', ':', '.', '-').filter(isTenant))
  return fuzz(t, fc.tuple(tenant, textOf('order', '\u001F', ':', '')), ([owner, id]) => {
    const stored = storedEventId(owner, id)
    if (publishedEventId(stored) !== id) throw new Error('another id')
    if (tenantOfEvent(stored) !== owner) throw new Error('another tenant')
  })
})

t.test('names of events, tenants and ids are plain', (t) =>
  fuzz(t, textOf('order.', 'created', '.', '_', '-', ':', '\n', '*', 'A', '0'), (text) => {
    if (isEventName(text) && /[\s*\0?#]/.test(text)) throw new Error(`${text} is no name`)
    if (isTenant(text) && !/^[A-Za-z0-9_.:-]{1,64}$/.test(text)) throw new Error(text)
    if (isUuid(text) && text.length !== 36) throw new Error(text)
  }),
)
