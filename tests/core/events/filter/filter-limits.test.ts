import t from 'tap'
import { compileFilter } from '../../../../packages/core/src/events/filter/compile-filter.ts'

const nested = (levels: number, leaf: unknown = 1): object =>
  levels === 1 ? { event: leaf } : { $not: nested(levels - 1, leaf) }
const listed = (levels: number): unknown => (levels === 0 ? 1 : [listed(levels - 1)])

t.test('a wrong filter is refused, and the error names the place in it', async (t) => {
  const refused: [unknown, RegExp][] = [
    [null, /^filter must be an object/],
    [[], /^filter must be an object/],
    ['event', /^filter must be an object/],
    [{ amount: 1 }, /^filter\.amount must begin with event, tenant, payload/],
    [{ 'events.x': 1 }, /^filter\.events\.x must begin/],
    [{ $eq: 1 }, /^filter\.\$eq must stand below a field/],
    [{ $where: 'true' }, /^filter\.\$where is no operator: there are \$eq, .*\$or, \$not/],
    [{ payload: { a: { $regex: 'a' } } }, /^filter\.payload\.a\.\$regex is no operator/],
    [{ payload: { a: { $constructor: 1 } } }, /\$constructor is no operator/],
    [{ payload: { a: { $elemMatch: {} } } }, /\$elemMatch is no operator/],
    [{ payload: { a: { $: 1 } } }, /^filter\.payload\.a\.\$ is no operator/],
    [{ payload: { a: { $eq: { $gt: 1 } } } }, /^filter\.payload\.a\.\$eq\.\$gt cannot stand/],
    [{ payload: { a: { $in: [1, { $gt: 1 }] } } }, /\$in\[1\]\.\$gt cannot stand within a value/],
    [{ payload: { a: { $in: 1 } } }, /^filter\.payload\.a\.\$in must be a list/],
    [{ payload: { a: { $nin: 'abc' } } }, /\$nin must be a list/],
    [{ payload: { a: { $exists: 1 } } }, /\$exists must be true or false/],
    [{ payload: { a: { $gt: null } } }, /\$gt must be a number or a text/],
    [{ payload: { a: { $lt: true } } }, /\$lt must be a number or a text/],
    [{ payload: { a: { $startsWith: 1 } } }, /\$startsWith must be a text/],
    [{ payload: {} }, /^filter\.payload is empty/],
    [{ $and: [] }, /^filter\.\$and must be a list of at least one condition/],
    [{ $or: { event: 'x' } }, /^filter\.\$or must be a list/],
    [{ $or: [{ event: 'x' }, 5] }, /^filter\.\$or\[1\] must be an object/],
    [{ $not: 5 }, /^filter\.\$not must be an object/],
    [{ 'payload..a': 1 }, /^filter\.payload\.\.a is not a path/],
    [{ 'payload.': 1 }, /is not a path/],
    [{ '': 1 }, /is not a path/],
    [{ 'payload.__proto__.admin': true }, /is not a path/],
    [JSON.parse('{ "__proto__": { "event": 1 } }'), /is not a path/],
    [{ payload: { a: Number.NaN } }, /^filter\.payload\.a must be a text, a number/],
    ...['9007199254740993', '-9007199254740993', '9007199254740991.6', '1e300', '1e400']
      .map(Number)
      .flatMap((number): [unknown, RegExp][] => [
        [{ payload: { a: number } }, /^filter\.payload\.a is a number beyond ±9007199254740991/],
        [{ 'payload.a': { $gt: number } }, /^filter\.payload\.a\.\$gt is a number beyond/],
        [{ 'payload.a': { $in: [1, [number]] } }, /\$in\[1\]\[0\] is a number beyond/],
        [{ 'payload.a': { $eq: { b: number } } }, /\$eq\.b is a number beyond/],
      ]),
    [{ payload: { a: undefined } }, /^filter\.payload\.a must be/],
    [{ payload: { a: 1n } }, /^filter\.payload\.a must be/],
    [{ payload: { a: () => 1 } }, /^filter\.payload\.a must be/],
    [{ payload: { a: 'x\0' } }, /^filter\.payload\.a holds a NUL/],
    [{ payload: { '\ud800': 1 } }, /half of a surrogate pair/],
    [{ payload: { a: 'x'.repeat(4096) } }, /^filter has \d+ bytes, and may have 4096/],
    [{ payload: { a: 'ü'.repeat(2045) } }, /^filter has \d+ bytes/],
    [nested(9), /^filter(\.\$not){8} is deeper than 8 levels/],
    [{ event: { $in: listed(9) } }, /\$in(\[0\]){8} is deeper than 8 levels/],
    [{ event: { $eq: listed(5000) } }, /is deeper than 8 levels/],
  ]
  for (const [filter, message] of refused) {
    t.throws(
      () => compileFilter(filter),
      { code: 'SVC_CORE_INVALID_FILTER', statusCode: 400, message },
      message.source,
    )
  }
})

t.test('a filter may have 8 levels and 4 KiB', async (t) => {
  t.ok(compileFilter(nested(8)))
  const overhead = JSON.stringify({ event: '' }).length
  t.ok(compileFilter({ event: 'x'.repeat(4096 - overhead) }))
  t.throws(() => compileFilter({ event: 'x'.repeat(4097 - overhead) }), {
    code: 'SVC_CORE_INVALID_FILTER',
  })
})
