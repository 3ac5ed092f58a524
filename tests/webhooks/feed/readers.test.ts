/** Who reads what of the feed, and what many readers cost. */
import pg from 'pg'
import t from 'tap'
import { useCore } from '@svc/core/internal'
import { until } from '../../support/until.ts'
import { startGuarded } from '../support/guarded-host.ts'
import { startHost } from '../support/host.ts'

interface Answer {
  status: number
  body: string
}

const idsOf = ({ body }: Answer): string[] =>
  (JSON.parse(body) as { events: { id: string }[] }).events.map(({ id }) => id)

t.test('a key reads what its scopes and its tenant open, and waits hold no turn', async (t) => {
  const { app, keyOf, ask } = await startGuarded(t)
  const { events, webhooks } = app.svc
  await events.publish('order.created', { n: 1 }, { tenant: 'acme', id: 'of acme' })
  await events.publish('order.created', { n: 2 }, { id: 'of the operator' })
  const acme = await keyOf('acme', ['events:read'])
  const operator = await keyOf(null, ['events:read'])
  const admin = await keyOf(null, ['admin'])
  const none = await keyOf(null, ['read', 'write'])
  t.same(idsOf(await ask(acme, 'GET', '/feed?after=start')), ['of acme'])
  t.same(idsOf(await ask(operator, 'GET', '/feed?after=start')), ['of acme', 'of the operator'])
  const { id } = await webhooks.register({
    url: 'https://example.com',
    events: ['svc.key.created', 'order.*'],
  })
  t.same(idsOf(await ask(operator, 'GET', `/${id}/feed?after=start`)).length, 2)
  t.ok(idsOf(await ask(admin, 'GET', '/feed?after=start&events=svc.key.created')).length > 0)
  for (const [key, path, status] of [
    [none, '/feed', 403],
    [acme, '', 403],
    [operator, '/feed?events=svc.key.created', 403],
    [acme, '/events/of the operator'.replaceAll(' ', '%20'), 404],
    [acme, '/events/of%20acme', 200],
    [acme, `/${id}/feed`, 404],
  ] as const) {
    t.equal((await ask(key, 'GET', path)).status, status, path)
  }
  const waiting = Array.from({ length: 20 }, () => ask(acme, 'GET', '/feed?wait=25'))
  const { db } = await useCore(app)
  await until(
    () => db.query(`select from svc."__svc.processes" where awaits_events`),
    ({ rowCount }) => rowCount === 1,
  )
  t.same(idsOf(await ask(acme, 'GET', '/feed?after=start')), ['of acme'])
  // Each may have read where the feed ends after one of these.
  let isOver = false
  const publishing = until(async () => {
    await events.publish('order.created', {}, { tenant: 'acme' })
    return isOver
  })
  for (const answer of await Promise.all(waiting)) t.equal(idsOf(answer).length > 0, true)
  isOver = true
  await publishing
})

t.test('one statement reads for all that wait, and large pages are cut', async (t) => {
  const host = await startHost(t)
  const { events, database } = host.app.svc
  const feed = async (query: string) => (await host.ask('GET', `/feed${query}`)).body
  const client = await database.connect()
  for (const level of ['repeatable read', 'serializable']) {
    await client.query(`begin isolation level ${level}`)
    await client.query('select 1')
    await events.publish('order.created', {}, { id: `before ${level}` })
    await events.publish('order.created', {}, { id: level, db: client })
    await client.query('commit')
  }
  client.release()
  const big = 'x'.repeat(3_000_000)
  for (const id of ['big 1', 'big 2', 'big 3'])
    await events.publish('order.created', { big }, { id })
  const seen: string[] = []
  let after = 'start'
  for (let hasMore = true; hasMore;) {
    const page = await feed(`?after=${after}`)
    seen.push(...page.events.map(({ id }: { id: string }) => id))
    t.ok(JSON.stringify(page).length < 8.5 * 1024 * 1024)
    ;({ cursor: after, hasMore } = page)
  }
  const small = ['before repeatable read', 'repeatable read', 'before serializable', 'serializable']
  t.same(seen, [...small, 'big 1', 'big 2', 'big 3'])

  let reads = 0
  const query = Reflect.get(pg.Client.prototype, 'query') as (...given: unknown[]) => unknown
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [first] = given as [{ text?: string } | string]
    if (String(typeof first === 'string' ? first : first.text).includes('read_feed')) reads++
    return Reflect.apply(query, this, given)
  } as never
  t.teardown(() => (pg.Client.prototype.query = query as never))
  const waiting = Array.from({ length: 100 }, () => feed(`?after=${after}&wait=25`))
  // Each reads once, and the first one makes this process read twice more.
  await until(() => reads >= 102)
  await events.publish('order.created', {}, { id: 'for all' })
  for (const page of await Promise.all(waiting)) t.match(page.events, [{ id: 'for all' }])
  t.ok(reads <= 106, `${reads} reads`)
})

t.test('a cursor outlives its event where that is erased with its tenant', async (t) => {
  const { app } = await startGuarded(t)
  const { events, webhooks } = app.svc
  await events.publish('order.created', {}, { id: 'of acme', tenant: 'acme' })
  const { cursor } = await webhooks.feed({ after: 'start' })
  await app.svc.eraseTenant('acme')
  await events.publish('order.created', {}, { id: 'next' })
  t.match((await webhooks.feed({ after: cursor, events: ['order.created'] })).events, [
    { id: 'next' },
  ])
})
