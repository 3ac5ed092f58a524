import t, { type Test } from 'tap'
import { sessionOn } from '../../support/session.ts'
import {
  deleteOldLogRows,
  dropLogDays,
  eraseLogRows,
  makeLogDays,
} from '../../../packages/webhooks/src/tables/delivery-log-days.ts'
import {
  findLastFailures,
  insertLogRows,
  type LogRow,
} from '../../../packages/webhooks/src/tables/delivery-log.ts'
import { findDelivery, listLogRows } from '../../../packages/webhooks/src/tables/delivery-lists.ts'
import {
  findMissed,
  insertMissed,
} from '../../../packages/webhooks/src/outbound/recoveries/missed-events.ts'
import type { DeliveryFilter } from '@svc/webhooks'
import { nodesOf } from '../../support/query-plans.ts'
import { startHost } from '../support/host.ts'

const DAY_MS = 24 * 3600 * 1000
const WEBHOOK = '0190a1b2-0000-7000-8000-000000000000'

let count = 0

/** A row whose id is as old as its attempt. */
function rowOf(daysAgo: number): LogRow {
  const ms = Date.now() - daysAgo * DAY_MS
  const time = ms.toString(16).padStart(12, '0')
  return {
    id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${(++count).toString(16).padStart(12, '0')}`,
    webhookId: WEBHOOK,
    event: 'order.created',
    eventId: null,
    payload: `${daysAgo}`,
    deliveryId: WEBHOOK,
    attempt: 1,
    status: 'delivered',
    statusCode: 200,
    error: null,
    durationMs: 1,
    responseBody: '',
    attemptedAt: new Date(ms).toISOString(),
    nextAttemptAt: null,
  }
}

async function logOf(t: Test) {
  const { database } = await startHost(t, { core: { worker: { enabled: false } } })
  const db = await sessionOn(t, database)
  // The template may have been made before midnight, with a day that has passed since.
  await db.query('select svc."__svc.webhooks.drop_log_days"(0)')
  const within = async (work: () => Promise<unknown>) => {
    await db.query('begin')
    await work()
    await db.query('commit')
  }
  return {
    db,
    database,
    make: () => within(() => makeLogDays(db)),
    /** A day of the past, as it was made when it came. */
    makeDay: (day: number) =>
      db.query(
        `create table svc."__svc.webhooks.delivery_log.${dayOf(day)}"
           partition of svc."__svc.webhooks.delivery_log"
           for values from ('${firstId(day)}') to ('${firstId(day - 1)}')`,
      ),
    drop: (days: number) => within(() => dropLogDays(db, days)),
    /** How many rows stand in which partition. */
    async places(): Promise<Record<string, number>> {
      const { rows } = await db.query<{ place: string; count: number }>(
        `select c.relname as place, count(l.id)::int
           from pg_inherits join pg_class c on c.oid = inhrelid
           left join svc."__svc.webhooks.delivery_log" l on l.tableoid = c.oid
          where inhparent = 'svc."__svc.webhooks.delivery_log"'::regclass group by 1 order by 1`,
      )
      const start = '__svc.webhooks.delivery_log.'
      return Object.fromEntries(rows.map((row) => [row.place.slice(start.length), row.count]))
    },
  }
}

const dayOf = (daysAgo: number): string =>
  new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10)

t.test('at boot there are partitions for today and the next three days', async (t) => {
  const log = await logOf(t)
  t.same(await log.places(), {
    [dayOf(0)]: 0,
    [dayOf(-1)]: 0,
    [dayOf(-2)]: 0,
    [dayOf(-3)]: 0,
    rest: 0,
  })
  await log.make()
  t.equal(Object.keys(await log.places()).length, 5, 'made once')
})

t.test(
  'a row whose day has no partition is kept, and moves into it once there is one',
  async (t) => {
    const log = await logOf(t)
    await log.db.query(`drop table svc."__svc.webhooks.delivery_log.${dayOf(0)}"`)
    await insertLogRows(log.db, [rowOf(0), rowOf(-10), rowOf(-1)])
    t.match(await log.places(), { [dayOf(-1)]: 1, rest: 2 })
    await log.make()
    t.match(await log.places(), { [dayOf(0)]: 1, [dayOf(-1)]: 1, rest: 1 })
  },
)

t.test('days that are too old are dropped, with their rows in the default partition', async (t) => {
  const log = await logOf(t)
  for (const day of [10, 31, 45]) {
    await log.makeDay(day)
    await insertLogRows(log.db, [rowOf(day)])
  }
  await insertLogRows(log.db, [rowOf(0), rowOf(20), rowOf(40)])
  t.match(await log.places(), { [dayOf(45)]: 1, [dayOf(31)]: 1, [dayOf(10)]: 1, rest: 2 })

  const before = await log.places()
  await log.drop(36_500)
  t.same(await log.places(), before, 'a hundred years keep all')
  await log.drop(30)
  const places = await log.places()
  t.match(places, { [dayOf(10)]: 1, [dayOf(0)]: 1, rest: 1 })
  t.notOk(dayOf(31) in places)
  t.notOk(dayOf(45) in places)
})

t.test(
  'rows older than the retention are not listed, even before their day is dropped',
  async (t) => {
    const log = await logOf(t)
    await insertLogRows(log.db, [rowOf(0), rowOf(29.9), rowOf(30.1)])
    const rows = await listLogRows(log.db, 30, { webhookId: WEBHOOK })
    t.same(
      rows.map(({ payload }) => payload),
      ['0', '29.9'],
    )
  },
)

t.test('no statement locks more days than a span has, however long the log is kept', async (t) => {
  const log = await logOf(t)
  const { db } = log
  // Each has ten indexes.
  for (let day = 60; day > 0; day--) {
    await log.makeDay(day)
  }
  const old = { ...rowOf(50), deliveryId: rowOf(50).id, eventId: 'late', status: 'failed' as const }
  await insertLogRows(db, [rowOf(0), old, rowOf(20)])
  const locked: [statement: string, days: number][] = []
  const lockedDays = async (): Promise<number> => {
    const { rows } = await db.query(
      `select count(*)::int as days from pg_locks join pg_class on pg_class.oid = relation
        where pid = pg_backend_pid() and relkind = 'r' and relispartition
          and starts_with(relname, '__svc.webhooks.delivery_log.')`,
    )
    return rows[0].days
  }
  /** Runs each statement in a transaction of its own, and notes how many days it has locked. */
  const counting = {
    query: async (text: string, values?: unknown[]) => {
      await db.query('begin')
      const answer = await db.query(text, values)
      locked.push([text, await lockedDays()])
      await db.query('commit')
      return answer
    },
  }
  const at = (day: number) => new Date(Date.now() - day * DAY_MS).toISOString()
  const slice = {
    recovery: { queue: 'q' },
    webhook: { id: WEBHOOK, events: ['order.created'], tenant: null },
    subscription: 's',
    since: at(51),
    until: at(50),
  }
  await db.query(
    `insert into svc."__svc.subscriptions" (event_name, subscription, queue) values ('order.created', 's', 'q')`,
  )
  await db.query(
    `insert into svc."__svc.events" (name, id, payload, published_at)
     values ('order.created', 'late', '1', $1), ('order.created', 'never', '1', $1)`,
    [at(50.9)],
  )
  const missing = await findMissed(counting, slice, 10)
  t.same(missing, [{ name: 'order.created', id: 'never' }], 'one was delivered a day later')
  t.equal((await listLogRows(counting, 2000, { webhookId: WEBHOOK })).length, 3)
  t.equal((await listLogRows(counting, 2000, { limit: 1 })).length, 1)
  // These read in the transaction of their caller, which keeps its locks.
  const unknown = '0190a1b2-0000-4000-8000-000000000000'
  const within = async (what: string, work: () => Promise<unknown>, right: unknown) => {
    await db.query('begin')
    t.match(await work(), right, what)
    const days = await lockedDays()
    await db.query('commit')
    t.ok(days <= 31 + 5, `${what}: a month, with the ends of its spans, of ${days} days`)
  }
  await within('insertMissed', () => insertMissed(db, WEBHOOK, slice, '0'), 1)
  await within('of a delivery', () => findDelivery(db, 2000, WEBHOOK, old.deliveryId), {
    id: old.id,
  })
  await within('of none', () => findDelivery(db, 2000, WEBHOOK, unknown), undefined)
  await findLastFailures(counting, [WEBHOOK])
  await deleteOldLogRows(counting, 40)
  t.equal((await listLogRows(counting, 2000, {})).length, 2)
  t.equal(await eraseLogRows(counting, 'acme', [WEBHOOK], 'none'), 2)
  t.ok(locked.length > 30)
  const most = locked.toSorted(([, a], [, b]) => b - a)[0]
  // A span of sixteen days begins within one, and what no day was made for is in the rest.
  t.ok((most?.[1] ?? 0) <= 18, `${most?.[1]} days: ${most?.[0]}`)
})

t.test('days that were kept for years are dropped in portions', async (t) => {
  const log = await logOf(t)
  for (let day = 70; day > 0; day--) {
    await log.makeDay(day)
  }
  t.equal(await dropLogDays(log.db, 30), true)
  t.equal(Object.keys(await log.places()).length, 5 + 40)
  while (await dropLogDays(log.db, 30));
  t.equal(Object.keys(await log.places()).length, 5 + 30)
})

t.test('the sweep ends soon if the table is locked', async (t) => {
  const log = await logOf(t)
  await log.makeDay(99)
  const reader = await sessionOn(t, log.database)
  await reader.query('begin; lock table svc."__svc.webhooks.delivery_log" in access share mode')
  await t.rejects(log.drop(30), { code: '55P03' })
})

t.test('a page of the log is read along an index, however long the log is', async (t) => {
  const { db } = await logOf(t)
  await insertLogRows(db, [rowOf(0)])
  // Half a day of attempts of two webhooks, one in a hundred of which failed.
  await db.query(
    `insert into svc."__svc.webhooks.delivery_log"
       (id, webhook_id, event, delivery_id, attempt, status, attempted_at)
     select (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid,
            case when n % 2 = 0 then webhook_id else gen_random_uuid() end, event, delivery_id,
            attempt, case when n % 100 = 0 then 'failed' else status end, attempted_at
       from svc."__svc.webhooks.delivery_log", generate_series(100000, 120000) as n`,
  )
  await db.query('analyze svc."__svc.webhooks.delivery_log"')

  const rowsRead = async (filter: DeliveryFilter): Promise<number> => {
    let count = 0
    const explaining = {
      query: async (text: string, values?: unknown[]) => {
        const { rows } = await db.query(`explain (analyze, format json) ${text}`, values)
        for (const node of nodesOf(rows[0]['QUERY PLAN'][0].Plan)) {
          if (!node['Node Type'].endsWith('Scan')) continue
          count += node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)
        }
        return { rows: [] }
      },
    }
    await listLogRows(explaining, 30, { webhookId: WEBHOOK, ...filter })
    return count
  }
  // Every second row is the webhook's: the planner may walk over the others.
  t.ok((await rowsRead({ limit: 100 })) <= 300)
  // The planner may read all 200 that failed and sort them, but none of the 10 000 others.
  t.ok((await rowsRead({ limit: 100, status: 'failed' })) < 1000)
})

/** The smallest id of a day. */
function firstId(daysAgo: number): string {
  const ms = Date.parse(dayOf(daysAgo))
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}
