// Which texts of a list mean an event, in code and in Postgres.
import t from 'tap'
import {
  isEventPattern,
  isMeantBy,
  namesThatMean,
  withoutCovered,
} from '../../../packages/core/src/events/event-patterns.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { sessionOn } from '../../support/session.ts'

const MEANT: [name: string, by: string[]][] = [
  ['order', ['order', '*']],
  ['order.paid', ['order.paid', '*', 'order.*']],
  ['order.paid.late', ['order.paid.late', '*', 'order.*', 'order.paid.*']],
  ['order.', ['order.', '*', 'order.*']],
  ['a..b', ['a..b', '*', 'a.*', 'a..*']],
  ['.a', ['.a', '*', '.*']],
  ['svc.key.created', ['svc.key.created']],
  ['svc', ['svc', '*']],
  ['svcx.a', ['svcx.a', '*', 'svcx.*']],
]

t.test('a name is meant by itself, by all and by a pattern for each dot', async (t) => {
  const client = await sessionOn(t, await freshDatabase(t))
  for (const [name, by] of MEANT) {
    t.same(namesThatMean(name), by, name)
    const { rows } = await client.query('select svc."__svc.names_that_mean"($1) as names', [name])
    t.same(rows, [{ names: by }], `${name} in Postgres`)
  }
})

t.test('a pattern means what is below it, at any depth', (t) => {
  const patterns = new Set(['order.*'])
  for (const name of ['order.paid', 'order.paid.late', 'order.']) t.ok(isMeantBy(patterns, name))
  for (const name of ['order', 'orders.paid', 'Order.paid', 'an.order.paid', 'order/paid']) {
    t.notOk(isMeantBy(patterns, name), name)
  }
  t.end()
})

t.test('a pattern is a beginning that ends with a dot, and never means events of ours', (t) => {
  for (const text of ['*', 'order.*', 'order.paid.*', 'a-b/c_1.*', 'svcs.*', 'sv.*']) {
    t.ok(isEventPattern(text), text)
  }
  const none = ['', '.*', '**', '*.*', 'order*', 'order.**', 'order.*.paid', '*.paid', 'order.* ']
  const ours = ['svc.*', 'svc.key.*', 'svc.webhook.*']
  for (const text of [
    ...none,
    ...ours,
    ' order.*',
    'order paid.*',
    'order.*\n',
    'order',
    'order.paid',
  ]) {
    t.notOk(isEventPattern(text), JSON.stringify(text))
  }
  t.end()
})

t.test('what another text of the list means is left out', (t) => {
  const cases: [string[], string[]][] = [
    [[], []],
    [['a', 'a'], ['a']],
    [
      ['a', '*', 'b.*', 'svc.key.created'],
      ['*', 'svc.key.created'],
    ],
    [
      ['b.c', 'b.*', 'b'],
      ['b.*', 'b'],
    ],
    [
      ['b.c.*', 'b.c.d', 'b.*', 'bc.d'],
      ['b.*', 'bc.d'],
    ],
    [
      ['b.c.*', 'b.d.*'],
      ['b.c.*', 'b.d.*'],
    ],
  ]
  for (const [given, left] of cases) t.same(withoutCovered(given), left)
  t.end()
})
