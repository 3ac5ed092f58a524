/** The primary is lost with its last commits, and a standby takes over that lacks them. */
import pg from 'pg'
import t, { type Test } from 'tap'
import Fastify from 'fastify'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { startHost } from '../webhooks/support/host.ts'

/** A server with a standby that lags behind as soon as it is told to. */
async function startPair(t: Test) {
  const primary = await startPostgres({}, { standby: 'late' })
  t.teardown(() => primary.stop())
  const proxy = await proxyPostgres(t, primary.url)
  const connect = async (url: string) => {
    const client = new pg.Client(url)
    client.on('error', () => {})
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  const [first, standby] = [await connect(primary.url), await connect(primary.standby!)]
  return {
    url: proxy.url,
    /** What is committed from now on is lost. */
    async lag() {
      const { rows } = await first.query('select pg_current_wal_lsn()::text as lsn')
      await until(
        () =>
          standby.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as "has"', [rows[0].lsn]),
        (answer) => answer.rows[0].has,
      )
      await standby.query(`alter system set primary_conninfo = ''`)
      await standby.query('select pg_reload_conf()')
      await until(
        () => standby.query('select from pg_stat_wal_receiver'),
        ({ rowCount }) => rowCount === 0,
      )
    },
    async fail() {
      primary.kill()
      proxy.cut()
      await standby.query('select pg_promote()')
      proxy.moveTo(primary.standby!)
      proxy.mend()
    },
  }
}

t.test(
  'a cursor into events that were lost has expired, and one before them goes on',
  async (t) => {
    const pair = await startPair(t)
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

t.test('what was lost of keys is lost in every process alike', async (t) => {
  const pair = await startPair(t)
  const start = async () => {
    const app = Fastify({ pluginTimeout: 60_000 })
    t.teardown(() => app.close())
    await app.register(svcCore, { database: { connectionString: pair.url, max: 4 } })
    await app.register(svcAuth)
    app.get('/', { config: { scopes: ['read'] } }, async () => 'ok')
    await app.ready()
    return app
  }
  const apps = [await start(), await start()] as const
  const { auth } = apps[0].svc
  const user = await auth.createUser({ email: 'ada@example.com', name: 'Ada' })
  const make = () => auth.createApiKey({ userId: user.id, scopes: ['read'] })
  const statuses = async (key: string) =>
    Promise.all(
      apps.map(async (app) => {
        const { statusCode } = await app.inject({ url: '/', headers: { 'x-api-key': key } })
        return statusCode
      }),
    )
  const both = (key: string, status: number) =>
    until(
      () => statuses(key),
      (all) => all.every((one) => one === status),
    )
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
