/** `svc.events.search` and `svc.events.find`. */
import type { FoundEvent } from '@svc/core'
import t from 'tap'
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
  const nulls = Buffer.from('["2030-01-01T00:00:00Z","\\u0000",""]').toString('base64url')
  const noTime = Buffer.from('["soon","",""]').toString('base64url')
  for (const query of [
    { text: 'ab' },
    { text: 'a\0b' },
    { limit: 0 },
    { after: 'x' },
    { after: nulls },
    { after: noTime },
    { since: 'soon' },
    { other: 1 },
  ]) {
    await t.rejects(app.svc.events.search(query), { code: 'SVC_INVALID_INPUT' })
  }
})
