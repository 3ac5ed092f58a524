import type pg from 'pg'
import t, { type Test } from 'tap'
import { sessionOn } from '../../support/session.ts'
import {
  listLogRows,
  walkLog,
  type LogSelection,
} from '../../../packages/webhooks/src/tables/delivery-lists.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { nodesOf, type Plan } from '../../support/query-plans.ts'

const WEBHOOK = '0190a1b2-0000-7000-8000-000000000000'
const DELIVERY = '0190a1b2-0000-7000-8000-000000000001'

/** Forty thousand attempts of the last days, of which one in a thousand is what is looked for. */
async function longLog(t: Test): Promise<pg.Client> {
  const db = await sessionOn(t, await freshDatabase(t))
  await db.query(
    `insert into svc."__svc.webhooks.delivery_log"
       (id, webhook_id, event, event_id, delivery_id, attempt, status, status_code, tenant, attempted_at)
     select (left(svc."__svc.first_uuid"(at)::text, 24) || lpad(to_hex(n), 12, '0'))::uuid,
            case when rare then $1::uuid else gen_random_uuid() end,
            case when rare then 'order.shipped' else 'order.created' end,
            case when rare then E'acme\\x1frare' else 'id ' || n end,
            case when rare then $2::uuid else gen_random_uuid() end,
            1,
            case when rare then 'dead' else 'delivered' end,
            case when rare then 503 else 200 end,
            case when rare then 'acme' end,
            at
       from generate_series(1, 40000) as n,
            lateral (select now() - n * interval '5 seconds' as at, n % 1000 = 0 as rare) as made`,
    [WEBHOOK, DELIVERY],
  )
  await db.query('analyze svc."__svc.webhooks.delivery_log"')
  return db
}

/** The scans of the plan of a page, and how many rows they read. */
async function scansOf(db: pg.Client, selection: LogSelection) {
  const plans: Plan[] = []
  const explaining = {
    query: async (text: string, values?: unknown[]) => {
      const { rows } = await db.query(`explain (analyze, format json) ${text}`, values)
      plans.push(rows[0]['QUERY PLAN'][0].Plan as Plan)
      return { rows: [] }
    },
  }
  await listLogRows(explaining, 30, selection)
  const scans = plans.flatMap(nodesOf).filter(
    // All plans for a day without rows cost nothing.
    (node) => node['Node Type'].endsWith(' Scan') && node['Actual Rows'] > 0,
  )
  const read = scans.reduce(
    (sum, scan) =>
      sum + scan['Actual Rows'] * scan['Actual Loops'] + (scan['Rows Removed by Filter'] ?? 0),
    0,
  )
  return { kinds: [...new Set(scans.map((scan) => scan['Node Type']))], read }
}

t.test('each filter of the log finds its rows along an index', async (t) => {
  const db = await longLog(t)
  const hour = { since: new Date(Date.now() - 30 * 3600_000).toISOString() }
  const filters: LogSelection[] = [
    {},
    { webhookId: WEBHOOK },
    { reach: 'acme' },
    { status: 'dead' },
    { event: 'order.shipped' },
    { eventId: 'rare' },
    { deliveryId: DELIVERY },
    { statusCode: 503 },
    { ...hour, until: new Date(Date.now() - 29 * 3600_000).toISOString() },
    { event: 'order.shipped', status: 'dead', reach: 'acme', ...hour },
  ]
  for (const filter of filters) {
    const { kinds, read } = await scansOf(db, { ...filter, limit: 20 })
    t.notOk(kinds.includes('Seq Scan'), `${JSON.stringify(filter)}: ${kinds.join()}`)
    // A span is of all rows of the margin at its end as well. Late in the day the end of the day before is so short
    // that Postgres reads it whole. No filter reads the rest of the log.
    t.ok(read <= 2500, `${JSON.stringify(filter)} reads ${read} rows`)
  }
})

t.test('a filter of the log finds the rows that it names', async (t) => {
  const db = await longLog(t)
  const count = async (selection: LogSelection) => (await listLogRows(db, 30, selection)).length
  t.equal(await count({ eventId: 'rare' }), 40)
  t.equal(await count({ eventId: 'id 7' }), 1)
  t.equal(await count({ eventId: 'acme\u001Frare' }), 0)
  t.equal(await count({ reach: '', statusCode: 503 }), 0)
  const [newest] = await listLogRows(db, 30, { limit: 1 })
  const since = newest?.attemptedAt ?? ''
  t.equal(await count({ since }), 1, 'the moment itself is included')
  t.equal(await count({ until: since, limit: 2 }), 2)
  t.equal(await count({ until: new Date(Date.now() - 40_100 * 5000).toISOString() }), 0)
})

t.test('an attempt of an hour is found by the time at which it began', async (t) => {
  const db = await longLog(t)
  const [newest] = await listLogRows(db, 30, { limit: 1 })
  const written = Date.now()
  const attemptedAt = new Date(written - 55 * 60_000).toISOString()
  await db.query(
    `update svc."__svc.webhooks.delivery_log" set attempted_at = $2, event_id = 'long' where id = $1`,
    [newest?.id, attemptedAt],
  )
  const until = new Date(written - 54 * 60_000).toISOString()
  const found = async (longestAttemptMs: number) =>
    (await listLogRows(db, 30, { until, eventId: 'long', longestAttemptMs })).length
  t.equal(await found(3_600_000), 1)
  t.equal(await found(10_000), 0, 'others read no more of the log than they have to')
})

t.test('a search for few of many attempts ends early, and goes on where it ended', async (t) => {
  const db = await longLog(t)
  // Each attempt that failed is followed by another one, but for the oldest.
  await db.query(
    `update svc."__svc.webhooks.delivery_log"
        set webhook_id = $1, delivery_id = $2,
            status = case when id = (select id from svc."__svc.webhooks.delivery_log" order by id desc limit 1) then 'delivered' else 'failed' end
      where status = 'delivered'`,
    [WEBHOOK, DELIVERY],
  )
  await db.query(
    `update svc."__svc.webhooks.delivery_log" set delivery_id = gen_random_uuid()
      where id = (select id from svc."__svc.webhooks.delivery_log" where status = 'failed' order by id limit 1)`,
  )
  const searches: [LogSelection, count: number, pages: number][] = [
    [{ status: 'failed', latest: true, limit: 10 }, 1, 3],
    [{ statusCode: 503, limit: 100 }, 40, 3],
  ]
  for (const [wanted, count, least] of searches) {
    const found = []
    let pages = 1
    for (let after: string | undefined; ; pages++) {
      const { rows, cutAt } = await walkLog(db, 30, { ...wanted, ...(after && { after }) }, 0)
      found.push(...rows)
      if (cutAt === undefined) break
      t.ok(after === undefined || cutAt < after, 'each search looks at older ones')
      after = cutAt
    }
    t.ok(pages >= least, `${pages} searches`)
    t.equal(found.length, count)
    t.same(found, await listLogRows(db, 30, wanted), 'without a bound it is one walk')
  }
})
