/** A process with a list of hosts whose primary hangs, while its standby takes over: it uses one of the two. */
import type pg from 'pg'
import t, { type Test } from 'tap'
import { freezePostgres } from '../support/freeze-postgres.ts'
import { proxyPostgres } from '../support/postgres-proxy.ts'
import { until } from '../support/until.ts'
import { startHost } from '../core/support/host.ts'
import { startPair } from './pair.ts'

/** Two servers, each behind a proxy that counts its connections, and a host that has both in a list. */
async function startHostOfTwo(t: Test) {
  const pair = await startPair(t)
  const [old, next] = [await proxyPostgres(t, pair.url), await proxyPostgres(t, pair.standbyUrl)]
  const list = new URL(pair.url)
  const connectionString = list.href.replace(
    list.host,
    `${new URL(old.url).host},${new URL(next.url).host}`,
  )
  const { app, log } = await startHost(t, {
    core: { database: { connectionString, max: 6 } },
    database: pair.url,
    setUp: ({ svc }) => svc.events.subscribe('order.created', () => {}, { subscription: 'orders' }),
  })
  const { svc } = app
  const publish = () =>
    svc.events.publish('order.created', {}).then(
      () => true,
      () => false,
    )
  return { ...pair, old, svc, publish, log }
}

const GIVEN_UP = /no answer within 3 s|another server takes the writes/

/**
 * Counts the connections of the host to a server that have run a statement. The one connection that asks whether
 * the server takes the writes is left out.
 */
const used = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query(
    `select count(*)::int as count from pg_stat_activity
      where backend_type = 'client backend' and datname = current_database()
        and pid <> pg_backend_pid() and query !~ '^$|pg_walfile_name'`,
  )
  return rows[0].count
}

const eventsOn = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query('select count(*)::int as count from svc."__svc.events"')
  return rows[0].count
}

t.test(
  'all connections to a server that hangs are given up at once, and none is left',
  async (t) => {
    const { url, old, first, standby, svc, publish, hasAll, log } = await startHostOfTwo(t)
    // Some that nobody uses, and one whose transaction waits for its host.
    await Promise.all(Array.from({ length: 4 }, () => svc.database.query('select pg_sleep(0.1)')))
    const idle = Promise.withResolvers<void>()
    const held = svc.transaction(async (db) => {
      await db.query('select 1')
      await idle.promise
      await db.query('select 1')
    })
    const refused = t.rejects(held, { code: 'SVC_UNAVAILABLE' })
    await until(publish)
    await hasAll()

    const left = old.fromNowOn()
    const thaw = await freezePostgres(url)
    t.teardown(thaw)
    await standby.query('select pg_promote()')
    await until(publish)
    t.ok(log.some((line) => GIVEN_UP.test(JSON.stringify(line))))
    t.equal(left(), 0, 'as soon as it publishes again')

    thaw()
    // What had been sent to it before it was given up still runs there.
    await until(async () => (await used(first)) === 0)
    const before = await eventsOn(first)
    const written = await eventsOn(standby)
    for (let n = 0; n < 20; n++) await until(publish)
    t.equal(await used(first), 0)
    t.ok((await used(standby)) > 0)
    t.equal(await eventsOn(first), before, 'nothing is written on the old one')
    t.ok((await eventsOn(standby)) >= written + 20)
    idle.resolve()
    await refused
  },
)

t.test(
  'a connection to another server ends those to the former one, whatever they do',
  async (t) => {
    const { first, standby, svc, publish, hasAll } = await startHostOfTwo(t)
    const idle = Promise.withResolvers<void>()
    const held = svc.transaction(async (db) => {
      await db.query('select 1')
      await idle.promise
      await db.query('select 1')
    })
    const refused = t.rejects(held, { code: 'SVC_UNAVAILABLE' })
    await hasAll()
    await first.query('alter system set default_transaction_read_only = on')
    await first.query('select pg_reload_conf()')
    await standby.query('select pg_promote()')
    await until(publish)
    await until(async () => (await used(first)) === 0)
    idle.resolve()
    await refused
  },
)
