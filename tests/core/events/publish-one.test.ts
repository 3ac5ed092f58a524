/** A single event is written by a statement of its own: the rows and the answer are those of a batch. */
import t from 'tap'
import type { Db } from '@svc/core/internal'
import { freshDatabase } from '../../support/fresh-database.ts'
import { explainingPool, nodesOf } from '../../support/query-plans.ts'
import { startHost } from '../support/host.ts'

const RECIPIENTS = ['1', '2', '3'].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
const [FIRST, SECOND, THIRD] = RECIPIENTS
const OWNER = '01900000-0000-7000-8000-000000000000'

interface Written {
  publishedAt: number
  madeAt: number
  startedOn: string
  transactionId: string
  claimed?: { id: string; version: string | null; group: string | null }[]
  hasFilters?: true
}

interface Situation {
  what: string
  name?: string
  tenant?: string
  id?: string
  trace?: string
  offered?: Record<string, number>
  fullGroups?: (string | undefined)[]
  /** Statements before it. */
  given?: string[]
}

const subscription = (event: string, queue: string, fansOut: boolean, idempotent = true) =>
  `insert into svc."__svc.subscriptions" (event_name, subscription, queue, fans_out, idempotent)
   values ('${event}', '${queue}', '${queue}', ${fansOut}, ${idempotent})`
const recipient = (
  event: string,
  id: string | undefined,
  tenant = '',
  filter: object | null = null,
) =>
  `insert into svc."__svc.recipients" (subscription, event_name, recipient, tenant, filter)
   values ('hooks', '${event}', '${id}', '${tenant}', ${filter ? `'${JSON.stringify(filter)}'` : 'null'})`
const group = (id: string | undefined, column: 'restricted' | 'circuit_open') =>
  `insert into svc."__svc.recipient_states" (queue, recipient, ${column}) values ('hooks', '${id}', true)`
const event = (id: string) =>
  `insert into svc."__svc.events" (name, id, payload) values ('a', '${id}', '{}')`

const HOOKS = subscription('a', 'hooks', true)
const SITUATIONS: Situation[] = [
  { what: 'no subscription' },
  { what: 'a handler waits for a fetch', given: [subscription('a', 'work', false)] },
  {
    what: 'a handler has room',
    given: [subscription('a', 'work', false)],
    offered: { hooks: 1, work: 2 },
  },
  { what: 'no recipient', given: [HOOKS] },
  { what: 'a recipient', given: [HOOKS, recipient('a', FIRST)], offered: { hooks: 1 } },
  {
    what: 'recipients of all and of other events',
    given: [HOOKS, recipient('*', FIRST), recipient('b', SECOND), recipient('svc.x', THIRD)],
  },
  {
    what: 'an event of ours, which "*" does not include',
    name: 'svc.x',
    given: [
      subscription('svc.x', 'hooks', true),
      recipient('*', FIRST),
      recipient('svc.x', SECOND),
    ],
  },
  {
    what: 'recipients of the tenant, of another and of none',
    tenant: 'acme',
    given: [
      HOOKS,
      recipient('a', FIRST, 'acme'),
      recipient('*', SECOND, 'other'),
      recipient('*', THIRD),
    ],
  },
  {
    what: 'an event without a tenant',
    given: [HOOKS, recipient('a', FIRST, 'acme'), recipient('a', SECOND)],
  },
  {
    what: 'more recipients than room',
    given: [HOOKS, ...RECIPIENTS.map((id) => recipient('a', id))],
    offered: { hooks: 2 },
  },
  {
    what: 'recipients that have all their attempts at a time',
    given: [HOOKS, ...RECIPIENTS.map((id) => recipient('a', id))],
    offered: { hooks: 3 },
    fullGroups: [SECOND],
  },
  {
    what: 'restricted and failing recipients',
    given: [
      HOOKS,
      ...RECIPIENTS.map((id) => recipient('a', id)),
      group(FIRST, 'restricted'),
      group(SECOND, 'circuit_open'),
    ],
    offered: { hooks: 3 },
  },
  {
    what: 'recipients and handlers',
    given: [HOOKS, subscription('a', 'work', false), recipient('a', FIRST), recipient('*', SECOND)],
    offered: { hooks: 3, work: 3 },
  },
  { what: 'a trace context', trace: '00-1-2-01', given: [HOOKS, recipient('a', FIRST)] },
  {
    what: 'an event that exists, of which one subscription wants replays',
    id: 'known',
    given: [HOOKS, recipient('a', FIRST), subscription('a', 'work', false, false), event('known')],
    offered: { hooks: 1, work: 1 },
  },
  {
    what: 'a recipient with a filter',
    given: [HOOKS, recipient('a', FIRST), recipient('*', SECOND, '', { 'payload.total': 1 })],
  },
]

t.test('one event is written as a batch of one is', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const { database } = app.svc
  await app.svc.jobs.createQueue('hooks')
  await app.svc.jobs.createQueue('work')
  for (const situation of SITUATIONS) {
    const [alone, inBatch] = await Promise.all(
      [publishOne, publishBatch].map(async (publish) => {
        const db = await database.connect()
        await db.query('begin')
        for (const statement of situation.given ?? []) await db.query(statement)
        const written = await publish(db, situation)
        const rows = await rowsOf(db)
        await db.query('rollback')
        db.release()
        return { written, ...rows }
      }),
    )
    t.same(alone, inBatch, situation.what)
  }
})

t.test('filters of other tenants are not asked for', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  await app.svc.jobs.createQueue('hooks')
  const { database: db } = app.svc
  await db.query(HOOKS)
  await db.query(recipient('a', FIRST, 'other', { 'payload.total': 1 }))
  await db.query(recipient('*', SECOND, 'acme'))
  t.match(await publishOne(db, { what: '', tenant: 'acme' }), { jobs: 1 })
  t.match(await publishOne(db, { what: '', tenant: 'other' }), { hasFilters: true })
})

t.test(
  'recipients and filters of others are not read, also with a plan for empty tables',
  async (t) => {
    const { pool, plans } = explainingPool(t, await freshDatabase(t))
    const { app } = await startHost(t, { core: { database: pool, worker: { enabled: false } } })
    await app.svc.jobs.createQueue('hooks')
    const db = await pool.connect()
    t.teardown(() => db.release())
    await db.query(HOOKS)
    await publishOne(db, { what: '', tenant: 'acme' })
    await db.query(
      `insert into svc."__svc.recipients" (subscription, event_name, recipient, tenant, filter)
     select 'hooks', name, md5(n || name)::uuid, tenant, filter::jsonb
       from generate_series(1, 2000) as n,
            (values ('a', 'other', null), ('a', 'other', '{}'), ('b', 'acme', null),
                    ('b', 'acme', '{}'), ('*', 'other', null), ('*', 'other', '{}'))
              as others (name, tenant, filter)
      on conflict do nothing`,
    )
    await db.query(recipient('a', FIRST, 'acme'))
    plans.length = 0
    t.match(await publishOne(db, { what: '', id: 'next', tenant: 'acme' }), { jobs: 1 })
    const read = plans.flatMap(nodesOf).map((node) => {
      const inVain =
        (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)
      return (node['Actual Rows'] + inVain) * node['Actual Loops']
    })
    t.ok(plans.length >= 3)
    t.ok(Math.max(...read) < 20, String(Math.max(...read)))
  },
)

async function publishOne(db: Db, of: Situation): Promise<object> {
  const { rows } = await db.query(
    `select svc."__svc.publish_one"($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, null) as written`,
    [...eventOf(of), ...offerOf(of)],
  )
  return comparable(db, JSON.parse(rows[0].written))
}

async function publishBatch(db: Db, of: Situation): Promise<object> {
  const [name, id, payload, tenant, trace] = eventOf(of)
  const { rows } = await db.query(
    `select svc."__svc.publish"($1, $2, $3, $4, null, null, null, null, null, $5, $6, $7, $8,
       $9, $10, $11, $12, $13, null, true, null, null) as written`,
    [[name], [id], [payload], [tenant], ...offerOf(of), [trace]],
  )
  return comparable(db, JSON.parse(rows[0].written))
}

const eventOf = ({ name = 'a', id = 'new', tenant, trace }: Situation) => [
  name,
  tenant === undefined ? id : `${tenant}\u001F${id}`,
  '{"total":1}',
  tenant ?? null,
  trace ?? null,
]

const offerOf = ({ offered = {}, fullGroups = [] }: Situation) => [
  Object.keys(offered),
  Object.values(offered),
  fullGroups,
  OWNER,
  7,
  5,
  true,
  3600,
]

/** Without what differs each time; the order of recipients is any. */
async function comparable(db: Db, written: Written): Promise<object> {
  const { publishedAt, madeAt, startedOn, transactionId, claimed = [], ...same } = written
  if (same.hasFilters) return same
  const isComplete = madeAt >= publishedAt && startedOn !== '' && transactionId !== ''
  const jobs = claimed
    .map(({ id, version, ...job }) => ({ ...job, isNamed: id !== '', version: typeof version }))
    .toSorted((a, b) => String(a.group).localeCompare(String(b.group)))
  return { ...same, isComplete, isLater: await isLater(db, madeAt), claimed: jobs }
}

async function rowsOf(db: Db): Promise<object> {
  const { rows: jobs } = await db.query(
    `select name, data - 'deliveryId' as data, data ->> 'deliveryId' = id::text as is_named, state,
            blocked, singleton_key, group_id, group_tier, started_on = now() as is_started,
            start_after = now() as is_due,
            keep_until - now() as keep, retry_limit, retry_delay, retry_backoff, retry_delay_max,
            expire_seconds, deletion_seconds, policy, dead_letter
       from svc_jobs.job where name in ('hooks', 'work') order by name, group_id`,
  )
  const { rows: events } = await db.query(
    `select name, id, payload, tenant, trace_context, published_at = now() as is_now
       from svc."__svc.events" order by name, id`,
  )
  return { jobs, events }
}

/** The jobs are later than what began after the events of a transaction before: by a microsecond. */
async function isLater(db: Db, madeAt: number): Promise<boolean> {
  const { rows } = await db.query(
    `select bool_and(round(extract(epoch from created_on) * 1000000 - $1::float8 * 1000) = 1) as is_later
       from svc_jobs.job where name in ('hooks', 'work')`,
    [madeAt],
  )
  return rows[0].is_later ?? true
}
