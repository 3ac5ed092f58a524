/** `svc.events.search` and `svc.events.find`. */
import type { Db, FoundEvent } from '@svc/core'
import { useCore } from '@svc/core/internal'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createEventSearch } from '../../../packages/core/src/events/event-search.ts'
import { emptyDatabaseWith } from '../../support/fresh-database.ts'
import { nodesOf } from '../../support/query-plans.ts'
import { startHost } from '../support/host.ts'

t.test('events are found by their fields, newest first, in pages', async (t) => {
  const { app } = await startHost(t)
  const { events, database } = app.svc
  await events.publish('order.created', { note: 'TEA 50%', n: 1 }, { id: 'one' })
  await events.publish('order.created', { note: 'tea', n: 2 }, { id: 'one', tenant: 'acme' })
  await events.publish('order.shipped', { note: 'coffee', n: 3 }, { id: 'two', tenant: 'acme' })
  await events.publish('order.shipped', { note: 'tea', n: 4 }, { id: 'three' })
  // One of a month ago.
  await database.query(
    `update svc."__svc.events" set published_at = now() - interval '30 days' where id = 'three'`,
  )
  // A search that takes long ends early, and its page has fewer items.
  const found = async (query?: Parameters<typeof events.search>[0]) => {
    const numbers: number[] = []
    let next: string | null | undefined
    do {
      const page = await events.search({ ...query, payloads: true, ...(next && { after: next }) })
      numbers.push(...page.items.map(({ payload }) => (payload as { n: number }).n))
      next = page.next
    } while (next)
    return numbers
  }
  t.same(await found(), [3, 2, 1, 4])
  t.same(await found({ name: 'order.created' }), [2, 1])
  t.same(await found({ name: ['order.created', 'order.shipped'], tenant: 'acme' }), [3, 2])
  t.same(await found({ except: 'order.s' }), [2, 1])
  t.same(await found({ name: 'order.shipped', except: 'order.s' }), [])
  t.same(await found({ tenant: '' }), [1, 4])
  t.same(await found({ id: 'one' }), [2, 1])
  t.same(await found({ text: 'tea' }), [2, 1, 4])
  t.same(await found({ text: '50%' }), [1], 'no wildcard')
  t.same(await found({ text: 'te_' }), [])
  const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString()
  t.same(await found({ since: yesterday }), [3, 2, 1])
  t.same(await found({ until: yesterday }), [4])

  const pages: FoundEvent[] = []
  let after: string | null | undefined
  do {
    const page = await events.search({ limit: 1, ...(after && { after }) })
    pages.push(...page.items)
    t.ok(page.items.length <= 1)
    t.notOk(page.items.some((item) => 'payload' in item))
    after = page.next
  } while (after)
  t.same(
    pages.map(({ id }) => id),
    ['two', 'one', 'one', 'three'],
  )
  t.match(pages[0], {
    name: 'order.shipped',
    id: 'two',
    tenant: 'acme',
    bytes: 23,
    publishedAt: /^\d{4}-.*Z$/,
  })
})

for (const [name, options] of [
  ['Turkish', "encoding 'UTF8' locale_provider icu icu_locale 'tr-TR' locale 'C'"],
  ['C', "encoding 'UTF8' locale 'C'"],
  ['English', "encoding 'UTF8' locale_provider icu icu_locale 'en-US' locale 'C'"],
] as const) {
  t.test(
    `a text is found in any case of letters, in a database with the collation ${name}`,
    async (t) => {
      const database = await emptyDatabaseWith(t, options)
      const { app } = await startHost(t, { core: { database } })
      const { events } = app.svc
      const notes = [
        'ISTANBUL im Irrlicht',
        'zürich ΣΊΣΥΦΟΣ',
        String.raw`a.b [c] (d) ^e$ f* \g| {h} %_ - /i`,
        '𐐀',
      ]
      for (const note of notes) await events.publish('noted', { note })
      const found = async (text: string): Promise<unknown> => {
        const { items } = await events.search({ text, payloads: true })
        return items.map(({ payload }) => notes.indexOf((payload as { note: string }).note))
      }
      for (const [text, right] of [
        ['istanbul', [0]],
        ['IRRLICHT', [0]],
        ['ZÜRICH', [1]],
        ['σίσυφος', [1]],
        ['ı Irr', []],
        ['ıst', []],
        ['𐐨"}', [3]],
        ['"note":"𐐀', [3]],
        ...['a.b', '[C]', '(d)', '^e$', 'f* ', '| {H}', '%_ -', '- /I', String.raw`\\G`].map(
          (one): [string, number[]] => [one, [2]],
        ),
        ...['a?b', '***', '.*.', 'a.. ', '(?i', 'b c', '\\\\y', '^e{'].map(
          (one): [string, number[]] => [one, []],
        ),
      ] as [string, number[]][]) {
        t.same(await found(text), right, text)
      }
    },
  )
}

t.test(
  'a place that no answer named is refused, and the first of all times is searched',
  async (t) => {
    const { app } = await startHost(t)
    const { events } = app.svc
    const place = (...start: unknown[]) => Buffer.from(JSON.stringify(start)).toString('base64url')
    const times = ['1', 'foo 1', '2026', '0000-01-01T00:00:00Z', '+275760-01-01T00:00:00Z']
    for (const time of times) {
      await t.rejects(events.search({ after: place(time, '', '', 60_000) }), {
        code: 'SVC_INVALID_INPUT',
        message: 'input/after must be the "next" of a former answer',
      })
    }
    t.match(await events.search({ until: '0001-01-01T00:00:01Z' }), { items: [], complete: true })
  },
)

t.test('a search that took too long says so, and goes on in shorter spans', async (t) => {
  const { app } = await startHost(t)
  const { rows } = await app.svc.database.query(
    `insert into svc."__svc.events" (name, id, payload, published_at)
     select 'order.created', 'e' || n, '1', now() - n * interval '20 seconds'
       from generate_series(1, 6) as n returning id`,
  )
  t.equal(rows.length, 6)
  const core = await useCore(app)
  const searched: [lower: string, upper: string][] = []
  // Nothing longer than two seconds is answered in time.
  const slow: Db = {
    async query(text, values = []) {
      const [lower, upper] = values as [string, string]
      const from = lower === '-infinity' ? 0 : Date.parse(lower)
      const to = upper === 'infinity' ? Date.now() : Date.parse(upper)
      searched.push([lower, upper])
      if (to - from > 2000) throw Object.assign(new Error('too long'), { code: '57014' })
      return core.db.query(text, values)
    },
  }
  const { search } = createEventSearch(slow)
  const since = new Date(Date.now() - 130_000).toISOString()
  const first = await search({ since })
  t.match(first, { items: [], complete: false, next: /./ })
  t.equal(searched.length, 1, 'a minute')
  let found = first
  const ids: string[] = []
  while (found.next !== null) {
    found = await search({ since, after: found.next })
    ids.push(...found.items.map(({ id }) => id))
  }
  t.equal(found.complete, true)
  t.same(ids, ['e1', 'e2', 'e3', 'e4', 'e5', 'e6'])
  const none: Db = {
    query: () => Promise.reject(Object.assign(new Error('too long'), { code: '57014' })),
  }
  const never = createEventSearch(none)
  const moment = Buffer.from(JSON.stringify([since, '', '', 1])).toString('base64url')
  await t.rejects(never.search({ after: moment }), { code: 'SVC_UNAVAILABLE' })
})

t.test('a search of much ends in time', async (t) => {
  // A minute has so many events that they take a tenth of a second.
  let searchedMs = 0
  const dense: Db = {
    async query(_text, [lower, upper] = []) {
      const to = upper === 'infinity' ? Date.now() : Date.parse(upper as string)
      const spanMs = to - Date.parse(lower as string)
      searchedMs += spanMs
      await setTimeout(spanMs / 600)
      return { rows: [], rowCount: 0 }
    },
  }
  t.match(await createEventSearch(dense).search({ text: 'none' }), { items: [], complete: false })
  t.ok(searchedMs < 3_600_000, `it searched ${searchedMs} ms back`)
})

t.test('a search of a tenant reads its events alone', async (t) => {
  const { app } = await startHost(t)
  const { database } = app.svc
  await database.query(
    `insert into svc."__svc.events" (name, id, payload, published_at, tenant)
     select 'order.created', tenant || E'\\x1f' || n, '1', now() - n * interval '1 second', tenant
       from generate_series(1, 20000) as n,
            lateral (select case when n % 1000 = 0 then 'acme' else 'globex' end as tenant) as row`,
  )
  await database.query('analyze svc."__svc.events"')
  const core = await useCore(app)
  let read = 0
  const explaining: Db = {
    async query(text, values) {
      const { rows } = await core.db.query(`explain (analyze, format json) ${text}`, values)
      for (const node of nodesOf(rows[0]['QUERY PLAN'][0].Plan)) {
        if (node['Relation Name'] === undefined) continue
        read += node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)
      }
      return core.db.query(text, values)
    },
  }
  const { search } = createEventSearch(explaining)
  t.equal((await search({ tenant: 'acme', text: 'none' })).items.length, 0)
  t.ok(read <= 40, `${read} rows of 20000`)
})

t.test('an event is found by its name, its id and its tenant', async (t) => {
  const { app } = await startHost(t)
  const { events } = app.svc
  await events.publish('order.created', { n: 1 }, { id: 'one' })
  await events.publish('order.created', { n: 2 }, { id: 'one', tenant: 'acme' })
  t.match(await events.find('order.created', 'one'), { tenant: null, payload: { n: 1 } })
  t.match(await events.find('order.created', 'one', { tenant: 'acme' }), { payload: { n: 2 } })
  t.equal(await events.find('order.created', 'two'), null)
  await t.rejects(events.find('order.created', '\0'), { code: 'SVC_INVALID_INPUT' })
})

t.test('a search with a wrong query is refused', async (t) => {
  const { app } = await startHost(t)
  const nulls = Buffer.from('["2030-01-01T00:00:00Z","\\u0000","",60000]').toString('base64url')
  const noSpan = Buffer.from('["2030-01-01T00:00:00Z","","",0]').toString('base64url')
  const noTime = Buffer.from('["soon","","",60000]').toString('base64url')
  for (const query of [
    { text: 'ab' },
    { text: 'a\0b' },
    { limit: 0 },
    { after: 'x' },
    { after: nulls },
    { after: noTime },
    { after: noSpan },
    { since: 'soon' },
    { other: 1 },
  ]) {
    await t.rejects(app.svc.events.search(query), { code: 'SVC_INVALID_INPUT' })
  }
})
