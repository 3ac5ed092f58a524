// promise: The feed has every event once, for all readers in the order of commits, and no open transaction of a host holds it back
/** The feed: events in the order of their commits, read page by page and waited for. */
import { useCore } from '@svc/core/internal'
import { openReceiver } from '../../support/receiver.ts'
import t from 'tap'
import { sessionOn } from '../../support/session.ts'
import { until } from '../../support/until.ts'
import { startHost, type Host } from '../support/host.ts'

interface Page {
  events: {
    id: string
    name: string
    payload: unknown
    tenant: string | null
    changed?: string[]
  }[]
  cursor: string
  hasMore: boolean
}

const reader =
  ({ ask }: Pick<Host, 'ask'>) =>
  async (query = ''): Promise<Page> => {
    const { status, body } = await ask('GET', `/feed${query}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body as Page
  }
const idsOf = ({ events }: Page) => events.map(({ id }) => id)

t.test('without a cursor the feed begins now, and with one it goes on', async (t) => {
  const host = await startHost(t)
  const feed = reader(host)
  const { events } = host.app.svc
  await events.publish('order.created', { n: 1 }, { id: 'a' })
  const first = await feed()
  t.same(first.events, [])
  t.equal(first.hasMore, false)
  await events.publish('order.created', { n: 2 }, { id: 'b', tenant: 'acme' })
  await events.publish('order.shipped', { n: 3 }, { id: 'c' })
  await events.publish('order.archived', {}, { id: 'd' })
  const page = await feed(`?after=${first.cursor}`)
  t.match(page.events, [
    { id: 'b', name: 'order.created', payload: { n: 2 }, tenant: 'acme' },
    { id: 'c', name: 'order.shipped', payload: { n: 3 }, tenant: null },
  ])
  t.equal(page.events.length, 2, 'an event that is not allowed does not show')
  t.notOk('changed' in (page.events[0] ?? {}))
  t.same((await feed(`?after=${page.cursor}`)).events, [])
  t.same(idsOf(await feed('?after=start')), ['a', 'b', 'c'])
  t.same(idsOf(await feed('?after=start&events=order.shipped')), ['c'])
  t.same(idsOf(await feed('?after=start&events=order.*')), ['a', 'b', 'c'])
  t.same(idsOf(await feed('?after=start&tenant=acme')), ['b'])
  t.same(idsOf(await feed('?after=start&tenant=')), ['a', 'c'])
  const two = await feed('?after=start&limit=2')
  t.same([idsOf(two), two.hasMore], [['a', 'b'], true])
  const rest = await feed(`?after=${two.cursor}&limit=2`)
  t.same([idsOf(rest), rest.hasMore], [['c'], false])
})

t.test('what is asked for wrongly is refused with a sentence', async (t) => {
  const { ask } = await startHost(t)
  for (const [query, code] of [
    ['?after=x', 'SVC_WEBHOOKS_INVALID_CURSOR'],
    ['?after=ZmVlZDox!', 'SVC_WEBHOOKS_INVALID_CURSOR'],
    ['?limit=0', 'SVC_INVALID_INPUT'],
    ['?limit=501', 'SVC_INVALID_INPUT'],
    ['?wait=26', 'SVC_INVALID_INPUT'],
    ['?wait=-1', 'SVC_INVALID_INPUT'],
    ['?events=nothing', 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED'],
    ['?events=svc.*', 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED'],
    ['?events=.*', 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED'],
    ['?events=', 'SVC_WEBHOOKS_EVENT_NOT_ALLOWED'],
    ['?unknown=1', 'SVC_INVALID_INPUT'],
  ] as const) {
    const { status, body } = await ask('GET', `/feed${query}`)
    t.match({ status, code: body.code }, { status: 400, code }, query)
  }
})

t.test('the order is that of commits, and an open transaction holds nothing back', async (t) => {
  const host = await startHost(t)
  const feed = reader(host)
  const { events, database } = host.app.svc
  const { cursor } = await feed()
  const client = await database.connect()
  await client.query('begin')
  await events.publish('order.created', {}, { id: 'late-1', db: client })
  await events.publish('order.created', {}, { id: 'late-2', db: client })
  await events.publish('order.created', {}, { id: 'early' })
  const before = await feed(`?after=${cursor}`)
  t.same(idsOf(before), ['early'])
  await client.query('commit')
  client.release()
  t.same(idsOf(await feed(`?after=${before.cursor}`)), ['late-1', 'late-2'])
  t.same(idsOf(await feed('?after=start')), ['early', 'late-1', 'late-2'])
  await host.app.svc
    .transaction(async (db) => {
      await events.publish('order.created', {}, { id: 'gone', db })
      await db.query('savepoint s')
      await events.publish('order.created', {}, { id: 'back', db })
      await db.query('rollback to s')
      await events.publish('order.created', {}, { id: 'kept', db })
      throw new Error('no')
    })
    .catch(() => {})
  t.same(idsOf(await feed(`?after=${cursor}`)), ['early', 'late-1', 'late-2'])
})

t.test('a reader never leaves out what commits while it reads', async (t) => {
  const host = await startHost(t)
  const other = await startHost(t, { database: host.database })
  const { svc } = host.app
  const published: string[] = []
  let isDone = false
  const publishing = Promise.all(
    Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; n < 60; n++) {
        const id = `${writer}-${n}`
        const { events, transaction } = (n % 2 ? host : other).app.svc
        if (n % 3 === 0) {
          await transaction(async (db) => {
            await events.publish('order.created', {}, { id, db })
            await db.query('select pg_sleep(0.003)')
          })
        } else if (n % 7 === 0) {
          await transaction(async (db) => {
            await events.publish('order.created', {}, { id: `${id}-not`, db })
            throw new Error('no')
          }).catch(() => {})
          continue
        } else await events.publish('order.created', {}, { id })
        published.push(id)
      }
    }),
  ).finally(() => (isDone = true))
  const readAll = async (feed: ReturnType<typeof reader>) => {
    const seen: string[] = []
    for (let after = 'start', last = false; ;) {
      last = isDone
      const page = await feed(`?after=${after}&limit=7`)
      seen.push(...idsOf(page))
      after = page.cursor
      if (last && page.events.length === 0) return seen
    }
  }
  const [one, two] = await Promise.all([readAll(reader(host)), readAll(reader(other))])
  await publishing
  t.same(one.toSorted(), published.toSorted())
  t.same(two, one, 'all readers have one order')
  for (let writer = 0; writer < 4; writer++) {
    const own = one.filter((id) => id.startsWith(`${writer}-`))
    t.same(
      own,
      published.filter((id) => id.startsWith(`${writer}-`)),
      'publishes that follow each other',
    )
  }
  t.ok(svc)
})

t.test('a position that is taken before its commit holds the feed back until then', async (t) => {
  const host = await startHost(t)
  const feed = reader(host)
  const { events, database } = host.app.svc
  const { cursor } = await feed()
  const client = await database.connect()
  t.teardown(() => client.release())
  await client.query('begin; set constraints all immediate')
  await events.publish('order.created', {}, { id: 'first', db: client })
  await events.publish('order.created', {}, { id: 'second' })
  const held = await feed(`?after=${cursor}`)
  t.same(held.events, [])
  t.same(await feed(), { events: [], cursor, hasMore: false })
  await client.query('commit')
  t.same(idsOf(await feed(`?after=${held.cursor}`)), ['first', 'second'])
})

t.test('a reader waits for the first event that it wants', async (t) => {
  const host = await startHost(t)
  const other = await startHost(t, { database: host.database })
  const feed = reader(host)
  const { cursor } = await feed()
  const waiting = feed(`?after=${cursor}&wait=25&events=order.shipped`)
  const ofTenant = feed(`?after=${cursor}&wait=25&tenant=acme`)
  const fromNow = feed('?wait=25')
  const { db } = await useCore(host.app)
  await until(
    () => db.query(`select from svc."__svc.processes" where awaits_events`),
    ({ rowCount }) => rowCount === 1,
  )
  await other.app.svc.events.publish('order.created', {}, { id: 'no' })
  await other.app.svc.events.publish('order.shipped', {}, { id: 'yes' })
  t.same(idsOf(await waiting), ['yes'])
  t.ok((await fromNow).events.length > 0)
  await other.app.svc.events.publish('order.created', {}, { id: 'of acme', tenant: 'acme' })
  const page = await ofTenant
  t.same(idsOf(page), ['of acme'])
  const next = feed(`?after=${page.cursor}&wait=25`)
  await other.app.svc.transaction((db) =>
    other.app.svc.events.publish('order.created', {}, { id: 'in a transaction', db }),
  )
  t.same(idsOf(await next), ['in a transaction'])
})

t.test('a host that closes answers those that wait', async (t) => {
  const host = await startHost(t)
  const { app } = host
  const url = await app.listen()
  const { cursor } = await reader(host)()
  const waiting = fetch(`${url}/_webhooks/feed?after=${cursor}&wait=25`)
  const gone = new AbortController()
  const given = fetch(`${url}/_webhooks/feed?wait=25`, { signal: gone.signal }).catch(() => 'gone')
  await new Promise((resolve) => setTimeout(resolve, 300))
  gone.abort()
  t.equal(await given, 'gone')
  const closing = app.close()
  const answer = await waiting
  t.same(await answer.json(), { events: [], cursor, hasMore: false })
  await closing
})

t.test('old events that are deleted end cursors before them', async (t) => {
  const host = await startHost(t)
  const feed = reader(host)
  const { events } = host.app.svc
  const { cursor } = await feed()
  await events.publish('order.created', {}, { id: 'old' })
  const middle = await feed(`?after=${cursor}`)
  await events.publish('order.created', {}, { id: 'new' })
  const client = await sessionOn(t, host.database)
  await client.query(`delete from svc_jobs.job`)
  await client.query(
    `update svc."__svc.events" set published_at = now() - interval '400 days' where id = 'old'`,
  )
  const { underTest } = await useCore(host.app)
  await underTest.runTasks()
  const { status, body } = await host.ask('GET', `/feed?after=${cursor}`)
  t.match(
    { status, body },
    {
      status: 410,
      body: {
        code: 'SVC_WEBHOOKS_CURSOR_EXPIRED',
        oldest: String,
        message: /lost them in a failover/,
      },
    },
  )
  t.same(idsOf(await feed(`?after=${body.oldest}`)), ['new'])
  t.same(idsOf(await feed(`?after=${middle.cursor}`)), ['new'])
  t.same(idsOf(await feed('?after=start')), ['new'])
})

t.test('what has changed is kept with the event, and a filter sees it', async (t) => {
  const host = await startHost(t)
  const feed = reader(host)
  const { events } = host.app.svc
  const { cursor } = await feed()
  const filter = { changed: { $contains: 'status' } }
  const { body: webhook } = await host.ask('POST', '', {
    url: 'https://example.com/hook',
    events: 'order.created',
    filter,
    fields: ['id'],
  })
  const before = { id: 7, status: 'new', customer: { name: 'A' }, tags: ['a'] }
  await events.publish('order.created', { ...before, status: 'paid' }, { id: 'a', before })
  await events.publish('order.created', { ...before, tags: ['b'] }, { id: 'b', before })
  await events.publish('order.created', before, { id: 'c' })
  await events.publish('order.created', before, {
    id: 'd',
    before: { ...before, customer: undefined },
  })
  const page = await feed(`?after=${cursor}`)
  t.same(
    page.events.map(({ changed }) => changed),
    [['status'], ['tags'], undefined, ['customer.name']],
  )
  const { body: own } = await host.ask('GET', `/${webhook.id}/feed?after=${cursor}`)
  t.match(own.events, [{ id: 'a', payload: { id: 7 }, changed: ['status'] }])
  t.equal(own.events.length, 1)
  t.same(own.events[0].payload, { id: 7 })
  t.equal((await host.app.svc.webhooks.get(webhook.id)).waiting, 1)
})

t.test('an event is found by its id', async (t) => {
  const { app, ask } = await startHost(t)
  const { events } = app.svc
  const long = 'x/?'.repeat(85)
  await events.publish('order.created', { n: 1 }, { id: 'a' })
  await events.publish('order.created', { n: 2 }, { id: 'a', tenant: 'acme' })
  await events.publish('order.shipped', { n: 3 }, { id: long, before: { n: 2 } })
  t.match(await ask('GET', '/events/a'), {
    status: 409,
    body: { code: 'SVC_WEBHOOKS_SEVERAL_EVENTS' },
  })
  t.match(await ask('GET', '/events/a?tenant=acme'), { status: 200, body: { payload: { n: 2 } } })
  t.match(await ask('GET', '/events/a?tenant='), { status: 200, body: { payload: { n: 1 } } })
  t.match(await ask('GET', `/events/${encodeURIComponent(long)}`), {
    status: 200,
    body: { id: long, name: 'order.shipped', changed: ['n'], tenant: null },
  })
  for (const path of ['b', 'a?name=order.shipped', 'x'.repeat(300), 'a?tenant=other']) {
    const { status, body } = await ask('GET', `/events/${path}`)
    t.match({ status, body }, { status: 404, body: { code: 'SVC_WEBHOOKS_EVENT_NOT_FOUND' } }, path)
  }
})

t.test('a webhook without an address is only read', async (t) => {
  const { app, ask } = await startHost(t)
  const target = await openReceiver(t)
  const { events, webhooks } = app.svc
  await events.publish('order.created', { n: 0 }, { id: 'before it existed' })
  const made = await ask('POST', '', { url: null, events: 'order.created' })
  t.match(made, { status: 201, body: { url: null, active: true } })
  const { id } = made.body
  await events.publish('order.created', { n: 1 }, { id: 'read' })
  t.equal((await ask('GET', `/${id}`)).body.waiting, 0)
  const { body } = await ask('GET', `/${id}/feed?after=start`)
  t.same(idsOf(body), ['before it existed', 'read'])
  const since = '2020-01-01T00:00:00Z'
  for (const [path, given] of [
    [`/${id}/test`, {}],
    [`/${id}/redrive`, undefined],
    [`/${id}/recover`, { what: 'missing', since }],
    [`/${id}/recover`, { what: 'dead', since, dryRun: true }],
  ] as const) {
    const refused = { status: 409, body: { code: 'SVC_WEBHOOKS_NO_URL' } }
    t.match(await ask('POST', path, given), refused, path)
  }
  const row = { webhookId: id, event: 'order.created', payload: 1, deliveryId: id, attempt: 1 }
  await t.rejects(webhooks.deliver(row), { code: 'SVC_WEBHOOKS_NO_URL' })
  t.match(await ask('PATCH', `/${id}`, { url: target.url }), { body: { url: target.url } })
  await events.publish('order.created', { n: 2 }, { id: 'sent' })
  const [delivery] = await target.waitFor(1)
  t.match(delivery?.body, { payload: { n: 2 } })
  const waiting = async () => (await webhooks.get(id)).waiting
  await until(waiting, (count) => count === 0)
  t.match(await ask('PATCH', `/${id}`, { active: false }), { body: { active: false } })
  await ask('POST', `/${id}/test`)
  t.equal(await waiting(), 1)
  t.match(await ask('PATCH', `/${id}`, { url: null }), { body: { url: null, waiting: 0 } })
  await ask('PATCH', `/${id}`, { active: true })
  await events.publish('order.created', { n: 3 }, { id: 'not sent' })
  t.equal(await waiting(), 0)
  t.equal(target.received.length, 1)
})

t.test('what becomes of webhooks stands in the feed, for those who name it', async (t) => {
  const { app, ask } = await startHost(t, { core: { worker: { maxAttempts: 1 } } })
  const target = await openReceiver(t, { answer: () => 500 })
  const { webhooks, events } = app.svc
  const { id } = await webhooks.register({ url: target.url, events: '*', tenant: 'acme' })
  const { cursor } = await webhooks.feed()
  await events.publish('order.created', {}, { tenant: 'acme' })
  const { body } = await ask('GET', `/feed?after=${cursor}&wait=25&events=svc.delivery.dead`)
  t.match(body.events, [{ name: 'svc.delivery.dead', tenant: 'acme', payload: { webhookId: id } }])
  const all = await webhooks.feed({ after: cursor })
  t.same(
    all.events.map(({ name }) => name),
    ['order.created'],
    'not for those who do not',
  )
})

t.test('hosts with other allowed events have the same feed', async (t) => {
  const narrow = await startHost(t, { allowedEvents: ['order.created'] })
  const { database } = narrow
  const allowedEvents = ['order.created', 'order.packed']
  const wide = await startHost(t, { database, allowedEvents })
  const { id } = await wide.app.svc.webhooks.register({ url: null, events: ['order.*'] })
  const feed = reader(narrow)
  const { cursor } = await feed('?after=start')
  const waiting = feed(`?after=${cursor}&wait=25`)
  await wide.app.svc.events.publish('order.packed', { n: 1 }, { id: 'packed' })
  await wide.app.svc.events.publish('order.secret', { n: 2 }, { id: 'of the host alone' })
  t.same(idsOf(await waiting), ['packed'])
  for (const query of [
    '/feed?after=start',
    '/feed?after=start&events=order.*',
    `/${id}/feed?after=start`,
  ]) {
    for (const { ask } of [narrow, wide]) {
      t.same(idsOf((await ask('GET', query)).body), ['packed'], query)
    }
  }
  t.match((await narrow.ask('GET', '/events/packed')).body, { payload: { n: 1 } })
  t.equal((await narrow.ask('GET', '/events/of%20the%20host%20alone')).status, 404)
})

t.test(
  'a reader of a webhook that is changed while it waits reads as the webhook is then',
  async (t) => {
    const one = await startHost(t)
    const two = await startHost(t, { database: one.database })
    const { webhooks, events } = one.app.svc
    const { id } = await webhooks.register({ url: null, events: '*' })
    const before = Date.now()
    const read = () => two.ask('GET', `/${id}/feed?wait=25`)
    const waits = async () => {
      const { rows } = await one.app.svc.database.query(
        'select awaits_events from svc."__svc.processes" where awaits_events',
      )
      return rows.length === 1
    }
    const changed = read()
    await until(waits)
    await webhooks.update({ id, fields: ['id'], filter: { payload: { id: { $exists: true } } } })
    await events.publish('order.created', { secret: 1 })
    await events.publish('order.created', { id: 2, secret: 2 })
    t.same(
      (await changed).body.events.map(({ payload }: { payload: unknown }) => payload),
      [{ id: 2 }],
    )
    const deleted = read()
    await webhooks.delete(id)
    await events.publish('order.created', { id: 3 })
    t.match(await deleted, { status: 404, body: { code: 'SVC_WEBHOOKS_NOT_FOUND' } })
    t.ok(Date.now() - before < 20_000)
  },
)

t.test('numbers stay as they were published', async (t) => {
  const { app } = await startHost(t)
  const { events, webhooks } = app.svc
  const receiver = await openReceiver(t)
  const { id } = await webhooks.register({
    url: receiver.url,
    events: '*',
    fields: ['big', 'other'],
  })
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }
  const payload = { big: rawJSON('12345678901234567891'), other: 1.5, text: ': 1e400' }
  await events.publish('order.created', payload, { id: 'a' })
  const [delivery] = await receiver.waitFor(1)
  t.match(delivery?.raw, '{"big":12345678901234567891,"other":1.5}')
  const texts = await Promise.all(
    ['/feed?after=start', `/${id}/feed?after=start`, '/events/a'].map(async (path) => {
      const answer = await app.inject({ method: 'GET', url: `/_webhooks${path}` })
      return answer.body
    }),
  )
  for (const text of texts) t.match(text, '"big":12345678901234567891')
  const { events: read } = await webhooks.feed({ after: 'start' })
  t.match(read[0]?.payload, { other: 1.5, big: Number('12345678901234567891') })
})

t.test('the paths of what has changed count in a page, and are bounded', async (t) => {
  const { app, ask } = await startHost(t)
  const before = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => ['k'.repeat(300) + String(n), n]),
  )
  for (let n = 0; n < 200; n++) await app.svc.events.publish('order.created', {}, { before })
  const page = await ask('GET', '/feed?after=start&limit=500')
  t.ok(page.body.hasMore)
  t.ok(page.body.events.length > 100 && JSON.stringify(page.body).length < 8 * 1024 * 1024)
  const huge = { ['k'.repeat(70_000)]: 1, b: 1 }
  await app.svc.events.publish('order.created', {}, { before: huge, id: 'huge' })
  t.same((await ask('GET', '/events/huge')).body.changed, [])
})
