// promise: A page of the feed walks along an index, whatever it is asked for
/** A page of the feed walks along an index, whatever it is asked for: it reads no more rows than it may. */
import pg from 'pg'
import t from 'tap'
import { readFeed } from '../../../packages/core/src/events/feed-table.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { explainingPool, nodesOf } from '../../support/query-plans.ts'

const EVENTS = 60_000
/** What one statement walks by. */
const WALKED = 20_000

t.test('a page reads its rows and no others, and a rare event is found in portions', async (t) => {
  const database = await freshDatabase(t)
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  // No statistics: a plan must not need them.
  await client.query(`alter table svc."__svc.events" disable trigger take_position_of_event`)
  await client.query(`
    insert into svc."__svc.events" (name, id, payload, tenant, position)
    select case when n = ${EVENTS} then 'rare' else 'order.created' end, n::text, '{}',
           case when n % 20000 = 0 then 'acme' end, n
      from generate_series(1, ${EVENTS}) as n`)
  await client.query(`
    insert into svc."__svc.subscriptions" (event_name, subscription, queue, fans_out)
    select name, 'webhooks', 'webhooks', true from unnest(array['order.created', 'rare']) as name`)
  await client.query(`select setval('svc."__svc.event_positions"', ${EVENTS})`)
  await client.end()
  const { pool, plans } = explainingPool(t, database)
  const read = async (after: number, names: string[], tenant: string | null, limit = 100) => {
    plans.length = 0
    const page = await readFeed(pool, {
      after: { position: after, mark: null },
      names,
      tenant,
      limit,
    })
    const nodes = plans.flatMap(nodesOf)
    t.notOk(
      nodes.some(
        (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === '__svc.events',
      ),
      'it scans no table',
    )
    const declared = nodes.filter((node) => node['Relation Name'] === '__svc.subscriptions')
    t.ok(declared.length > 0)
    for (const node of declared) t.equal(node['Actual Loops'], 1, 'what a name means is asked once')
    const rows = nodes
      .filter((node) => node['Relation Name'] === '__svc.events')
      .map((node) => node['Actual Rows'] * node['Actual Loops'])
    return { page, most: Math.max(...rows) }
  }
  const first = await read(0, ['order.created', 'rare'], null)
  t.equal(first.page.events.length, 100)
  t.equal(first.page.to, 100)
  t.ok(first.page.hasMore)
  t.ok(first.most <= WALKED, `${first.most} rows`)
  const rare = await read(0, ['rare'], null)
  t.match(rare.page, { events: [], to: WALKED, hasMore: true })
  t.ok(rare.most <= WALKED, `${rare.most} rows`)
  const byPattern = await read(0, ['rare.*'], null)
  t.match(byPattern.page, { events: [], to: WALKED, hasMore: true })
  const last = await read(EVENTS - 10, ['rare'], null)
  t.match(last.page, { events: [{ name: 'rare' }], to: EVENTS, hasMore: false })
  t.ok(last.most <= 10, `${last.most} rows`)
  const tenant = await read(0, ['order.created'], 'acme')
  t.equal(tenant.page.events.length, 2)
  t.match(tenant.page, { to: EVENTS, hasMore: false })
  t.ok(tenant.most <= 3, `${tenant.most} rows`)
  const none = await read(0, ['order.created'], '', 5)
  t.equal(none.page.events.length, 5)
})
