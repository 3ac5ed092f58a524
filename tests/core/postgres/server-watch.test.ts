import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createSvc } from '../../../packages/core/src/index.ts'
import { ServerWatch } from '../../../packages/core/src/postgres/server-watch.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { freezePostgres } from '../../support/freeze-postgres.ts'
import { startPostgres } from '../../support/postgres.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { until } from '../../support/until.ts'

async function svcOf(t: Test, database: string) {
  const svc = await createSvc({ core: { database, worker: { enabled: true } } })
  t.teardown(() => svc.close())
  return svc
}
type Svc = Awaited<ReturnType<typeof svcOf>>

/** A transaction of the host, and a statement outside of one, both without a limit of their own. */
const longStatements = (svc: Svc, seconds: number) => [
  svc.transaction((db) => db.query('select pg_sleep($1)', [seconds])),
  svc.database.query('select pg_sleep($1)', [seconds]),
]
const UNREACHABLE = /^(the database cannot be reached|Connection terminated: no answer within 3 s)/

/** A bound that a busy machine keeps too; without a probe the statements would take minutes. */
const BOUND_MS = 20_000

async function areGivenUp(t: Test, statements: Promise<unknown>[]): Promise<void> {
  const started = performance.now()
  for (const statement of statements) await t.rejects(statement, { message: UNREACHABLE })
  t.ok(performance.now() - started < BOUND_MS, `after ${performance.now() - started} ms`)
}

const publishes = async (svc: Svc) =>
  (await svc.events.publish('order.created', {}).catch(() => undefined)) !== undefined

t.test('statements on connections that nobody answers are given up', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const svc = await svcOf(t, proxy.url)
  const statements = longStatements(svc, 120)
  await until(async () => (await svc.health()).ok)
  proxy.silence()
  await areGivenUp(t, statements)
  proxy.mend()
  await until(() => publishes(svc))
})

t.test(
  'where new connections are answered and the old ones are not, all of those are made again',
  async (t) => {
    const proxy = await proxyPostgres(t, await freshDatabase(t))
    const svc = await svcOf(t, proxy.url)
    // Some that nobody uses.
    await Promise.all(Array.from({ length: 5 }, () => svc.database.query('select pg_sleep(0.1)')))
    proxy.strand()
    const started = performance.now()
    await until(() => publishes(svc))
    await until(async () => (await svc.health()).ok)
    t.ok(performance.now() - started < BOUND_MS, `after ${performance.now() - started} ms`)
  },
)

t.test(
  'on a pool of the host without a limit, connections that are being opened are given up as well',
  async (t) => {
    const proxy = await proxyPostgres(t, await freshDatabase(t))
    const pool = new pg.Pool({ connectionString: proxy.url, max: 4 })
    pool.on('error', () => {})
    t.teardown(() => pool.end())
    const svc = await createSvc({ core: { database: pool, worker: { enabled: false } } })
    t.teardown(() => svc.close())
    await until(async () => (await svc.health()).ok)
    proxy.delay(2000)
    proxy.reset()
    await until(() => pool.totalCount === 0)
    const started = performance.now()
    const publishing = publishes(svc)
    await until(() => pool.totalCount > 0 && proxy.connections() > 0)
    proxy.strand()
    proxy.mend()
    await publishing
    await until(() => publishes(svc))
    t.ok(performance.now() - started < 12_000, `after ${performance.now() - started} ms`)
  },
)

t.test(
  'where a name leads to another server, connections to the former one are given up together',
  async (t) => {
    const [former, next] = [await startPostgres(), await startPostgres()]
    t.teardown(() => Promise.all([former.stop(), next.stop()]))
    const proxy = await proxyPostgres(t, former.url)
    const pool = new pg.Pool({ connectionString: proxy.url })
    let probes = 0
    const password = () => {
      probes++
      return new URL(next.url).password
    }
    const { hostname: host, port, username: user } = new URL(proxy.url)
    const watch = new ServerWatch(
      { host, port: Number(port), user, database: 'postgres', password },
      () => {},
      () => {},
    )
    t.teardown(() => {
      watch.close()
      return pool.end()
    })
    watch.watchPool(pool)
    const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()))
    const ended = clients.map((client) => {
      client.on('error', () => {})
      return new Promise<number>((end) => client.once('end', () => end(performance.now())))
    })
    const [first, late, inTransaction] = clients
    await inTransaction!.query('begin')
    proxy.strand()
    proxy.moveTo(next.url)
    watch.wake()
    first!.query('select 1').catch(() => {})
    await until(() => probes > 0)
    // Not for long enough to be lost when the first one is: its server may yet answer.
    late!.query('select 1').catch(() => {})
    const [at, ...others] = await Promise.all(ended)
    t.ok(others.every((other) => Math.abs(other - at!) < 1000))
    for (const client of clients) client.release(true)
  },
)

t.test('a server that hangs is noticed, and is used again when it goes on', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const svc = await svcOf(t, server.url)
  const statements = longStatements(svc, 120)
  await until(async () => (await svc.health()).ok)
  const thaw = await freezePostgres(server.url)
  t.teardown(thaw)
  await areGivenUp(t, statements)
  await t.rejects(svc.events.publish('order.created', {}), { code: 'SVC_UNAVAILABLE' })
  thaw()
  await until(() => publishes(svc))
})

t.test('a statement may take its time while the server works on it', async (t) => {
  const database = await freshDatabase(t)
  const proxy = await proxyPostgres(t, database)
  const svc = await svcOf(t, proxy.url)
  proxy.delay(100)
  for (const answer of await Promise.all(longStatements(svc, 12))) t.ok(answer)
})

t.test('a process that stands still during a probe takes no server for a dead one', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const svc = await svcOf(t, proxy.url)
  await until(async () => (await svc.health()).ok)
  proxy.delay(150)
  const statement = svc.database.query('select pg_sleep(9)')
  // The probe begins after two seconds, and has its answer about a second later.
  await wait(2500)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000)
  t.ok(await statement)
})
