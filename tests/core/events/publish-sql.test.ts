/** The function that every publish calls: what it writes and answers, and what is made of its answer. */
import t from 'tap'
import type { Db } from '@svc/core/internal'
import { storedEventId } from '../../../packages/core/src/events/event-id.ts'
import { FEED } from '../../../packages/core/src/events/feed-table.ts'
import { KnownFilters } from '../../../packages/core/src/events/filter/known-filters.ts'
import { publish } from '../../../packages/core/src/events/publish-sql.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { explainingPool, nodesOf } from '../../support/query-plans.ts'
import { startHost } from '../support/host.ts'

const RECIPIENTS = ['1', '2', '3'].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
const [FIRST, SECOND, THIRD] = RECIPIENTS
const OWNER = '01900000-0000-7000-8000-000000000000'

/** Of a job: its queue, its recipient, and how it waits or whether it is claimed. */
type Made = [
  queue: string,
  recipient: string | undefined | null,
  how: 'waits' | 'claimed' | 'aside',
]

interface Situation {
  what: string
  /** The jobs that follow; `null` where filters have to be asked before. */
  made: Made[] | null
  /** @default true */
  isNew?: boolean
  name?: string
  tenant?: string
  id?: string
  trace?: string
  offered?: Record<string, number>
  fullRecipients?: (string | undefined)[]
  /** @default null */
  endedJobs?: string[] | null
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
const state = (id: string | undefined, column: 'restricted' | 'circuit_open') =>
  `insert into svc."__svc.recipient_states" (queue, recipient, ${column}) values ('hooks', '${id}', true)`
const event = (id: string) =>
  `insert into svc."__svc.events" (name, id, payload) values ('a', '${id}', '{}')`

const HOOKS = subscription('a', 'hooks', true)
const SITUATIONS: Situation[] = [
  { what: 'no subscription', made: [] },
  {
    what: 'a handler waits for a fetch',
    made: [['work', null, 'waits']],
    given: [subscription('a', 'work', false)],
  },
  {
    what: 'a handler has room',
    made: [['work', null, 'claimed']],
    given: [subscription('a', 'work', false)],
    offered: { hooks: 1, work: 2 },
  },
  { what: 'no recipient', made: [], given: [HOOKS] },
  {
    what: 'a recipient',
    made: [['hooks', FIRST, 'claimed']],
    given: [HOOKS, recipient('a', FIRST)],
    offered: { hooks: 1 },
  },
  {
    what: 'recipients of all and of other events',
    made: [['hooks', FIRST, 'waits']],
    given: [HOOKS, recipient('*', FIRST), recipient('b', SECOND), recipient('svc.x', THIRD)],
  },
  {
    what: 'an event of ours, which "*" does not include',
    made: [['hooks', SECOND, 'waits']],
    name: 'svc.x',
    given: [
      subscription('svc.x', 'hooks', true),
      recipient('*', FIRST),
      recipient('svc.x', SECOND),
    ],
  },
  {
    what: 'recipients of the tenant, of another and of none',
    made: [
      ['hooks', FIRST, 'waits'],
      ['hooks', THIRD, 'waits'],
    ],
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
    made: [['hooks', SECOND, 'waits']],
    given: [HOOKS, recipient('a', FIRST, 'acme'), recipient('a', SECOND)],
  },
  {
    what: 'more recipients than room',
    made: [
      ['hooks', FIRST, 'claimed'],
      ['hooks', SECOND, 'claimed'],
      ['hooks', THIRD, 'waits'],
    ],
    given: [HOOKS, ...RECIPIENTS.map((id) => recipient('a', id))],
    offered: { hooks: 2 },
  },
  {
    what: 'recipients that have all their attempts at a time',
    made: [
      ['hooks', FIRST, 'claimed'],
      ['hooks', SECOND, 'waits'],
      ['hooks', THIRD, 'claimed'],
    ],
    given: [HOOKS, ...RECIPIENTS.map((id) => recipient('a', id))],
    offered: { hooks: 3 },
    fullRecipients: [SECOND],
  },
  {
    what: 'restricted and failing recipients',
    made: [
      ['hooks', FIRST, 'aside'],
      ['hooks', SECOND, 'aside'],
      ['hooks', THIRD, 'claimed'],
    ],
    given: [
      HOOKS,
      ...RECIPIENTS.map((id) => recipient('a', id)),
      state(FIRST, 'restricted'),
      state(SECOND, 'circuit_open'),
    ],
    offered: { hooks: 3 },
  },
  {
    what: 'recipients and handlers',
    made: [
      ['hooks', FIRST, 'claimed'],
      ['hooks', SECOND, 'claimed'],
      ['work', null, 'claimed'],
    ],
    given: [HOOKS, subscription('a', 'work', false), recipient('a', FIRST), recipient('*', SECOND)],
    offered: { hooks: 3, work: 3 },
  },
  {
    what: 'a trace context',
    made: [['hooks', FIRST, 'waits']],
    trace: '00-1-2-01',
    given: [HOOKS, recipient('a', FIRST)],
  },
  {
    what: 'an event that exists, of which one subscription wants replays',
    made: [['work', null, 'claimed']],
    isNew: false,
    id: 'known',
    given: [HOOKS, recipient('a', FIRST), subscription('a', 'work', false, false), event('known')],
    offered: { hooks: 1, work: 1 },
  },
  {
    what: 'a recipient with a filter',
    made: null,
    given: [HOOKS, recipient('a', FIRST), recipient('*', SECOND, '', { 'payload.total': 1 })],
  },
]

t.test('an event makes a job for each recipient, alone and among others', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const { database } = app.svc
  await app.svc.jobs.createQueue('hooks')
  await app.svc.jobs.createQueue('work')
  for (const situation of SITUATIONS) {
    for (const others of [0, 2]) {
      const db = await database.connect()
      await db.query('begin')
      for (const statement of situation.given ?? []) await db.query(statement)
      const what = `${situation.what}, with ${others} others`
      const written = await call(db, situation, others)
      const made = await madeJobs(db)
      if (situation.made === null) t.same([written, made], [{ filtered: [others + 1] }, []], what)
      else {
        t.same(made, situation.made, what)
        const { created, claimed, restricted, waiting } = written
        const { isNew = true } = situation
        const isOneOf = (how: Made[2]) => made.filter((job) => job[2] === how)
        t.equal(created?.includes(others + 1) ?? true, isNew, what)
        t.same(
          (claimed ?? []).map(({ event }) => event),
          isOneOf('claimed').map(() => others + 1),
          what,
        )
        t.ok(
          isOneOf('waits').every(([queue]) => waiting?.includes(queue)),
          what,
        )
        t.ok(
          (restricted ?? []).every(({ recipient }) => recipient === FIRST),
          what,
        )
        const { rows } = await db.query(
          `select trace_context from svc."__svc.events" where name = $1 and id like '%new'`,
          [situation.name ?? 'a'],
        )
        if (isNew) t.same(rows, [{ trace_context: situation.trace ?? null }], what)
      }
      await db.query('rollback')
      db.release()
    }
  }
})

t.test('a publish tells whether a living process waits for events', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const db = await app.svc.database.connect()
  t.teardown(() => db.release())
  await db.query('begin')
  const isAwaited = async (id: string) => (await call(db, { id })).isAwaited
  const set = (columns: string) => db.query(`update svc."__svc.processes" set ${columns}`)
  t.equal(await isAwaited('none'), false)
  await set('awaits_events = true')
  t.equal(await isAwaited('one'), true)
  await set(`renewed_at = now() - interval '61 seconds'`)
  t.equal(await isAwaited('dead'), false)
  await set('renewed_at = now(), closed_at = now()')
  t.equal(await isAwaited('closed'), false)
  await db.query('rollback')
})

t.test('of an order the first job is claimed, where no other waits or is attempted', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  const { database } = app.svc
  await app.svc.jobs.createQueue('hooks')
  await database.query(HOOKS)
  await database.query(recipient('a', FIRST))
  const states = 'svc."__svc.recipient_states"'
  await database.query(state(FIRST, 'restricted'))
  let published = 0
  const claims = async (endedJobs: string[] | null = [], db: Db = database) => {
    const { claimed, restricted } = await call(db, {
      id: `${published++}`,
      offered: { hooks: 5 },
      endedJobs,
    })
    t.same(
      [claimed, restricted].filter((one) => one).map((one) => one?.length),
      [1],
    )
    t.equal(claimed?.[0]?.isRestricted ?? true, true)
    return claimed?.[0]?.id
  }
  const empty = () => database.query('delete from svc_jobs.job')
  t.equal(await claims(), undefined, 'it is limited otherwise')
  await empty()
  await database.query(`update ${states} set ordered = true`)
  t.equal(await claims(null), undefined, 'the process claims none of an order')
  t.equal(await claims(), undefined, 'another one waits')
  await empty()

  const first = (await claims()) as string
  t.ok(first)
  const { rows } = await database.query(
    'select state::text, priority, group_tier as owner from svc_jobs.job',
  )
  t.same(rows, [{ state: 'active', priority: -2, owner: OWNER }])
  t.equal(await claims(), undefined, 'another one is attempted')
  await database.query('delete from svc_jobs.job where id <> $1', [first])
  const second = (await claims([first])) as string
  t.ok(second, 'that attempt has ended')
  t.equal(await claims([first]), undefined)
  for (const lane of [0, -1]) {
    await database.query(`update svc_jobs.job set priority = ${lane} where state = 'created'`)
    t.equal(await claims([first, second]), undefined, 'another one waits elsewhere')
    await database.query(`delete from svc_jobs.job where state = 'created' and priority = -2`)
  }
  await empty()

  for (const change of ['held = true', 'circuit_open = true', 'rate_limit = 9, rate_seconds = 9']) {
    await database.query(`update ${states} set ${change}`)
    t.equal(await claims(), undefined, change)
    await empty()
    await database.query(
      `update ${states} set held = false, circuit_open = false, rate_limit = null`,
    )
  }
  const other = await database.connect()
  await other.query('begin')
  t.ok(await claims([], other))
  t.equal(await claims(), undefined, 'another transaction may have claimed one')
  await other.query('rollback')
  await empty()
  await other.query('begin isolation level repeatable read')
  t.equal(await claims([], other), undefined, 'it would not see what was committed meanwhile')
  await other.query('rollback')
  other.release()

  await database.query(subscription('b', 'hooks', true))
  await database.query(recipient('b', FIRST))
  const { claimed } = await publish(
    database,
    {
      events: ['b', 'a', 'b'].map((name, n) => ({ name, id: `both ${n}`, payload: `${n}` })),
      offer: {
        owner: OWNER,
        room: new Map([['hooks', 5]]),
        fullRecipients: [],
        endedJobs: [],
      },
    },
    { retry, filters: new KnownFilters() },
  )
  t.same(
    claimed.get('hooks')?.map(({ published }) => published?.payload),
    ['0'],
    'the first one of a batch, whatever its name',
  )
})

t.test('filters of other tenants are not asked for', async (t) => {
  const { app } = await startHost(t, { core: { worker: { enabled: false } } })
  await app.svc.jobs.createQueue('hooks')
  const { database: db } = app.svc
  await db.query(HOOKS)
  await db.query(recipient('a', FIRST, 'other', { 'payload.total': 1 }))
  await db.query(recipient('*', SECOND, 'acme'))
  t.match(await call(db, { tenant: 'acme' }), { jobs: 1 })
  t.same(await call(db, { tenant: 'other' }), { filtered: [1] })
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
    await call(db, { tenant: 'acme' })
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
    t.match(await call(db, { id: 'next', tenant: 'acme' }), { jobs: 1 })
    const read = plans.flatMap(nodesOf).map((node) => {
      const inVain =
        (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)
      return (node['Actual Rows'] + inVain) * node['Actual Loops']
    })
    t.ok(plans.length >= 3)
    t.ok(Math.max(...read) < 20, String(Math.max(...read)))
  },
)

t.test(
  'a publish looks for recipients twice for its name, twice for all, and twice for each dot',
  async (t) => {
    const { pool, plans } = explainingPool(t, await freshDatabase(t))
    const { app } = await startHost(t, { core: { database: pool, worker: { enabled: false } } })
    await app.svc.jobs.createQueue('hooks')
    const db = await pool.connect()
    t.teardown(() => db.release())
    for (const name of ['a', 'a.b', 'a.b.c']) await db.query(subscription(name, 'hooks', true))
    await call(db, { name: 'a.b.c', tenant: 'acme' })
    await db.query(
      `insert into svc."__svc.recipients" (subscription, event_name, recipient, tenant, filter)
     select 'hooks', name, md5(n || name)::uuid, tenant, filter::jsonb
       from generate_series(1, 2000) as n,
            (values ('a.*', 'other', null), ('a.*', 'other', '{}'), ('a.b.c', 'other', null),
                    ('a.c.*', 'acme', null), ('a.c.*', 'acme', '{}'), ('b.*', 'acme', null),
                    ('svc.*', '', null))
              as others (name, tenant, filter)
      on conflict do nothing`,
    )
    await db.query(recipient('a.*', FIRST, 'acme'))
    await db.query(recipient('a.b.*', SECOND, ''))

    /** How often recipients are looked for once it is known that none has a filter, and the most rows read. */
    const looked = async (name: string, jobs: number, events = 1) => {
      plans.length = 0
      const published = await publish(
        db,
        {
          events: Array.from({ length: events }, (_, n) => ({
            name,
            id: storedEventId('acme', `${n} of ${events}`),
            payload: '1',
          })),
        },
        { retry, filters: new KnownFilters() },
      )
      t.equal(published.jobs, jobs)
      const nodes = plans
        .filter((plan) =>
          nodesOf(plan).some((node) => node['Relation Name'] === '__svc.subscriptions'),
        )
        .flatMap(nodesOf)
      const times = nodes
        .filter((node) => node['Relation Name'] === '__svc.recipients')
        .map((node) => node['Actual Loops'])
      const rows = plans.flatMap(nodesOf).map((node) => {
        const inVain =
          (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)
        return (node['Actual Rows'] + inVain) * node['Actual Loops']
      })
      t.ok(Math.max(...rows) < 20, String(Math.max(...rows)))
      return times.reduce((sum, loops) => sum + loops, 0)
    }
    t.equal(await looked('a', 0), 4)
    t.equal(await looked('a.b', 1), 6)
    t.equal(await looked('a.b.c', 2), 8)
    t.equal(await looked('a.b.c', 12, 6), 8, 'once for all events of a name and a tenant')
  },
)

const retry = {
  maxAttempts: 8,
  retryDelaySeconds: 5,
  retryBackoff: true,
  retryDelayMaxSeconds: 3600,
}

/** The answer about one event, which comes after so many that nobody wants. */
async function call(
  db: Db,
  { name = 'a', id = 'new', tenant, trace, ...rest }: Partial<Situation>,
  others = 0,
): Promise<Answer> {
  const { offered = {}, fullRecipients = [], endedJobs = null } = rest
  let answer: Answer | undefined
  const listened: Db = {
    async query(text, values) {
      const result = await db.query(text, values)
      answer ??= JSON.parse((result.rows[0] as { written: string }).written) as Answer
      // Only what the first call answers is looked at.
      return { ...result, rows: [{ written: NOTHING }] }
    },
  }
  const event = {
    name,
    id: storedEventId(tenant ?? null, id),
    payload: '1',
    traceContext: trace ?? null,
  }
  const unwanted = Array.from({ length: others }, (_, n) => ({
    ...event,
    name: 'svc.none',
    id: `${n}`,
  }))
  const offer = {
    owner: OWNER,
    room: new Map(Object.entries(offered)),
    fullRecipients: fullRecipients.filter((one) => one !== undefined),
    endedJobs,
  }
  await publish(
    listened,
    { events: [...unwanted, event], offer },
    { retry, filters: new KnownFilters() },
  )
  return answer!
}

interface Answer {
  filtered?: number[]
  created?: number[] | null
  jobs?: number | null
  waiting?: string[] | null
  isAwaited?: boolean
  restricted?: { queue: string; recipient: string }[] | null
  claimed?:
    | {
        id: string
        queue: string
        recipient: string | null
        version: string | null
        event: number
        isRestricted: boolean
      }[]
    | null
  startedOn?: string
}

const NOTHING = JSON.stringify({ created: [], isAwaited: false })

async function madeJobs(db: Db): Promise<Made[]> {
  const { rows } = await db.query(
    `select name, group_id,
            case when priority = -2 then 'aside' when state = 'active' then 'claimed' else 'waits' end as how,
            data ->> 'deliveryId' = id::text and data ->> 'recipient' is not distinct from group_id
              and singleton_key is not distinct from group_id and blocked = (group_id is not null)
              and (group_tier is not distinct from case when state = 'active' then $1 end)
              and start_after = now() and created_on > now() and retry_limit = 7 as is_whole
       from svc_jobs.job where name in ('hooks', 'work') order by name, group_id`,
    [OWNER],
  )
  const jobs = rows as { name: string; group_id: string | null; how: Made[2]; is_whole: boolean }[]
  return jobs.map(({ name, group_id, how, is_whole }) => [
    name,
    group_id,
    is_whole ? how : ('?' as never),
  ])
}

/** What is made of this answer. */
function publishedOf(
  answer: Answer,
  events: Parameters<typeof publish>[1]['events'],
  maxAttempts = 3,
) {
  const written = { publishedAt: 1000, madeAt: 1500, startedOn: '1970-01-01', transactionId: '7' }
  const text = JSON.stringify({ ...JSON.parse(NOTHING), ...written, ...answer })
  const db: Db = { query: async () => ({ rows: [{ written: text }], rowCount: 1 }) }
  return publish(db, { events }, { retry: { ...retry, maxAttempts }, filters: new KnownFilters() })
}

const given = (id: string, tenant: string | null = null) => ({
  name: 'order.created',
  id: storedEventId(tenant, id),
  payload: `{"id":"${id}"}`,
})

t.test('results name duplicates, ids without the tenant, and taken keys as null', async (t) => {
  const deduplicationKey = { key: 'k', ttlSeconds: 60 }
  const events = [given('a', 'acme'), given('b'), { ...given('c'), deduplicationKey }]
  t.strictSame((await publishedOf({ created: [2] }, events)).results, [
    { id: 'a', duplicate: true },
    { id: 'b', duplicate: false },
    null,
  ])
  t.strictSame((await publishedOf({ created: null }, events.slice(2))).results, [
    { id: 'c', duplicate: false },
  ])
})

t.test('claimed jobs are grouped by queue, and have their event', async (t) => {
  const events = [given('a'), { ...given('b'), traceContext: '00-1-2-01' }]
  const claimed = [
    { id: 'job 1', queue: 'deliveries', recipient: 'webhook', version: 'v1', event: 2 },
    { id: 'job 2', queue: 'mail', recipient: null, version: null, event: 1 },
    { id: 'job 3', queue: 'deliveries', recipient: 'other', version: null, event: 1 },
  ].map((one) => ({ ...one, filter: null, isRestricted: one.id === 'job 1' }))
  const published = await publishedOf({ created: null, claimed }, events, 1)
  t.strictSame(
    [...published.claimed].map(([queue, jobs]) => [queue, jobs.map(({ id }) => id)]),
    [
      ['deliveries', ['job 1', 'job 3']],
      ['mail', ['job 2']],
    ],
  )
  const [delivery] = published.claimed.get('deliveries') ?? []
  t.match(delivery, {
    data: { event: 'order.created', eventId: 'b', recipient: 'webhook', deliveryId: 'job 1' },
    attempt: 1,
    attemptsLeft: 0,
    recipient: 'webhook',
    startedOn: '1970-01-01',
    recipientVersion: { version: 'v1', askedAt: Number },
    permit: { id: null, askedAt: Number },
    published: { payload: '{"id":"b"}', publishedAt: new Date(1000), traceContext: '00-1-2-01' },
  })
  const [mail] = published.claimed.get('mail') ?? []
  t.equal(mail?.permit, undefined)
  const hasRecipient = Object.hasOwn(mail?.data as object, 'recipient')
  t.notOk(hasRecipient, 'a job of a subscription has no recipient')
})

t.test('workers are woken by queue, and for restricted recipients once each', async (t) => {
  const restricted = ['a', 'b', 'a'].map((recipient) => ({ queue: 'deliveries', recipient }))
  const { waiting } = await publishedOf({ created: null, waiting: ['mail'], restricted }, [])
  t.strictSame(waiting, { queues: ['mail'], restricted: new Map([['deliveries', ['a', 'b']]]) })
})

t.test('readers of the feed are woken where one waits', async (t) => {
  for (const isAwaited of [false, true]) {
    const { waiting } = await publishedOf({ created: null, isAwaited }, [])
    t.strictSame(waiting, { queues: isAwaited ? [FEED] : [], restricted: new Map() })
  }
})
