/** The primary is lost with its last commits, and a standby takes over that lacks them. */
import type pg from 'pg'
import t, { type Test } from 'tap'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { until } from '../support/until.ts'
import { startHost } from '../webhooks/support/host.ts'
import { startPair } from './pair.ts'
import { newHost } from '../support/new-host.ts'

/** A server with a standby that lags behind as soon as it is told to. */
async function startLagging(t: Test) {
  const { url, standbyUrl, first, standby, hasAll, kill } = await startPair(t)
  const proxy = await proxyPostgres(t, url)
  return {
    url: proxy.url,
    first,
    standby,
    /** What is committed from now on is lost. */
    async lag() {
      await hasAll()
      await standby.query(`alter system set primary_conninfo = ''`)
      await standby.query('select pg_reload_conf()')
      await until(
        () => standby.query('select from pg_stat_wal_receiver'),
        ({ rowCount }) => rowCount === 0,
      )
    },
    async fail() {
      kill()
      proxy.cut()
      await standby.query('select pg_promote()')
      proxy.moveTo(standbyUrl)
      proxy.mend()
    },
  }
}

t.test(
  'a cursor into events that were lost has expired, and one before them goes on',
  async (t) => {
    const pair = await startLagging(t)
    const host = await startHost(t, { database: pair.url })
    const { events } = host.app.svc
    const publish = async (prefix: string, count: number) => {
      for (let n = 0; n < count; n++) {
        const id = `${prefix}-${n}`
        await until(() =>
          events.publish('order.created', {}, { id }).then(
            () => true,
            () => false,
          ),
        )
      }
    }
    const read = async (query: string) => (await host.ask('GET', `/feed${query}`)).body
    await publish('kept', 10)
    const kept = await read('?after=start')
    t.equal(kept.events.length, 10)
    await pair.lag()
    await publish('lost', 10)
    const lost = await read(`?after=${kept.cursor}`)
    t.equal(lost.events.length, 10)
    const waiting = host.ask('GET', `/feed?after=${lost.cursor}&wait=25`)
    await pair.fail()
    // Positions of lost events belong to these.
    await publish('new', 60)

    const { body } = await waiting
    t.same(body.events ?? [], [], 'a reader that waited is not given what follows others')
    const answer = await host.ask('GET', `/feed?after=${lost.cursor}`)
    t.match(answer, { status: 410, body: { code: 'SVC_WEBHOOKS_CURSOR_EXPIRED' } })
    t.equal((await read(`?after=${answer.body.oldest}`)).events.length, 70)
    const after = await read(`?after=${kept.cursor}`)
    t.same(
      after.events.map(({ id }: { id: string }) => id),
      Array.from({ length: 60 }, (_, n) => `new-${n}`),
    )
  },
)

/** Two processes that guard a route. */
async function startGuards(t: Test, connectionString: string) {
  const start = async () => {
    const app = newHost(t)
    await app.register(svcCore, { database: { connectionString, max: 4 } })
    await app.register(svcAuth)
    app.get('/', { config: { scopes: ['read'] } }, async () => 'ok')
    await app.ready()
    return app
  }
  const apps = [await start(), await start()] as const
  const { auth, audit } = apps[0].svc
  const user = await auth.createUser({ email: 'ada@example.com', name: 'Ada' })
  const statuses = async (key: string) =>
    Promise.all(
      apps.map(async (app) => {
        const { statusCode } = await app.inject({ url: '/', headers: { 'x-api-key': key } })
        return statusCode
      }),
    )
  return {
    auth,
    audit,
    user,
    make: (fields: object = {}) =>
      auth.createApiKey({ userId: user.id, scopes: ['read'], ...fields }),
    /** What a request with this key gets of each process. */
    statuses,
    both: (key: string, status: number) =>
      until(
        () => statuses(key),
        (all) => all.every((one) => one === status),
      ),
  }
}

t.test('what was lost of keys is lost in every process alike', async (t) => {
  const pair = await startLagging(t)
  const { auth, make, both } = await startGuards(t, pair.url)
  const old = await make()
  await both(old.key, 200)
  await pair.lag()
  await auth.revokeApiKey(old.id)
  const lost = await make()
  await both(old.key, 401)
  await both(lost.key, 200)
  await pair.fail()
  await both(lost.key, 401)
  await both(old.key, 200)
  // The same numbers of changes stand for others now.
  await until(() =>
    auth.revokeApiKey(old.id).then(
      () => true,
      () => false,
    ),
  )
  const next = await make()
  await both(old.key, 401)
  await both(next.key, 200)
  t.pass('and both follow what the new server says')
})

t.test(
  'of a limit and of a quota at most so much more passes as was lost of what was allotted',
  async (t) => {
    const pair = await startLagging(t)
    const { make, statuses, both } = await startGuards(t, pair.url)
    const QUOTA = 120
    const LIMIT = 60
    const counted = [
      { limit: QUOTA, ...(await make({ quota: { limit: QUOTA, period: 'total' } })) },
      { limit: LIMIT, ...(await make({ limits: [{ limit: LIMIT, perSeconds: 3600 }] })) },
    ].map((one) => ({ ...one, passed: 0, kept: 0, allotted: 0 }))
    const soon = await make({ limits: [{ limit: 2, perSeconds: 1 }] })
    type Counted = (typeof counted)[number]
    /** A request to each process. Returns whether none is let through any more. */
    const use = async (one: Counted) => {
      const all = await statuses(one.key)
      one.passed += all.filter((status) => status === 200).length
      return all.every((status) => status === 429)
    }
    const allotted = async (client: pg.Client, { id }: Counted): Promise<number> => {
      const { rows } = await client.query(
        `select (select coalesce(sum(allotted), 0) from svc."__svc.auth.quotas" where subject = $1)
              + (select coalesce(sum(one), 0) from svc."__svc.auth.windows", unnest(allotted) as one
                  where subject = $1) as allotted`,
        [id],
      )
      return Number(rows[0].allotted)
    }
    for (const one of counted) for (let n = 0; n < 8; n++) await use(one)
    await both(soon.key, 429)
    await pair.lag()
    for (const one of counted) {
      one.kept = await allotted(pair.standby, one)
      for (let n = 0; n < 12; n++) await use(one)
    }
    await until(
      () =>
        pair.first.query(
          `select from pg_stat_activity where backend_type = 'client backend' and state <> 'idle'
              and pid <> pg_backend_pid()`,
        ),
      ({ rowCount }) => rowCount === 0,
    )
    for (const one of counted) one.allotted = await allotted(pair.first, one)
    await pair.fail()

    for (const one of counted) {
      await until(() => use(one))
      const { limit, passed } = one
      const lost = one.allotted - one.kept
      t.ok(lost > 0, `${lost} were lost`)
      t.ok(passed >= limit && passed <= limit + lost, `${passed} of ${limit} have passed`)
    }
    await both(soon.key, 200)
    t.pass('a key whose window has passed works again')
  },
)

t.test('of the audit what was lost is missing, and the rest can be read on', async (t) => {
  const pair = await startLagging(t)
  const { auth, audit, make, both } = await startGuards(t, pair.url)
  const first = await make()
  const second = await make()
  const before = await audit.list()
  await pair.lag()
  await auth.revokeApiKey(first.id)
  const [lost] = await audit.list({ limit: 1 })
  t.match(lost, { action: 'key.revoke', target: { id: first.id } })
  await both(first.key, 401)
  await pair.fail()
  await until(() =>
    auth.revokeApiKey(second.id).then(
      () => true,
      () => false,
    ),
  )
  const after = await audit.list()
  t.match(after[0], { action: 'key.revoke', target: { id: second.id } })
  t.same(after.slice(1), before)
  t.same(await audit.list({ after: lost!.id }), before, 'a page after a lost row has those before')
})

t.test('a job whose outcome was lost runs again, and one under way goes on', async (t) => {
  const pair = await startLagging(t)
  const { app } = await startHost(t, { database: pair.url })
  const runs: string[] = []
  const gates = new Map(['ended', 'under way'].map((id) => [id, Promise.withResolvers<void>()]))
  const handle = async (_: unknown, { id }: { id: string }) => {
    runs.push(id)
    await gates.get(id)?.promise
  }
  await app.svc.events.subscribe('order.created', handle, { subscription: 'orders' })
  const publish = (id: string) => app.svc.events.publish('order.created', {}, { id })
  const jobs = async (client: pg.Client): Promise<number> => {
    const { rows } = await client.query(
      `select count(*)::int as count from svc_jobs.job
        where name like '%orders%' and state < 'completed'`,
    )
    return rows[0].count
  }
  const ran = (id: string, times: number) =>
    until(() => runs.filter((one) => one === id).length === times)
  await publish('ended')
  await publish('under way')
  await ran('ended', 1)
  await ran('under way', 1)
  await pair.lag()
  await publish('lost')
  await ran('lost', 1)
  gates.get('ended')!.resolve()
  await until(
    () => jobs(pair.first),
    (count) => count === 1,
  )
  await pair.fail()
  await until(() =>
    publish('next').then(
      () => true,
      () => false,
    ),
  )
  await ran('next', 1)
  gates.get('under way')!.resolve()
  await ran('ended', 2)
  await until(
    () => jobs(pair.standby),
    (count) => count === 0,
  )
  t.same(runs.toSorted(), ['ended', 'ended', 'lost', 'next', 'under way'])
})
