// promise: Guard, publishes, deliveries, retries and order work behind PgBouncer in transaction mode, and no session keeps any state
import t from 'tap'
import { isConnectionError } from '../../../packages/core/src/postgres/connection-errors.ts'
import { openDatabase } from '../../../packages/core/src/postgres/pools.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost } from '../support/host.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { until } from '../../support/until.ts'

const settings = `select current_setting('enable_seqscan') as "seqScan", current_setting('jit') as jit`
const fail = (error: Error) => {
  throw error
}

t.test('worker connections have their settings from the moment they are made', async (t) => {
  const database = await openDatabase(await freshDatabase(t), fail)
  const { workerPool, hostPool, pooled } = database
  t.teardown(() => database.close())
  t.equal(pooled, false)
  t.strictSame((await workerPool.query(settings)).rows, [{ seqScan: 'off', jit: 'off' }])
  t.match((await hostPool.query(settings)).rows, [{ seqScan: 'on' }], 'the host keeps its own')
})

t.test(
  'worker settings are made within each transaction where a pooler refuses them',
  async (t) => {
    const { url } = await proxyPostgres(t, await freshDatabase(t), { refusesOptions: true })
    const database = await openDatabase(url, fail)
    const { workerPool, pooled } = database
    t.teardown(() => database.close())
    t.equal(pooled, true)
    t.strictSame((await workerPool.query(settings)).rows, [{ seqScan: 'off', jit: 'off' }])
    const { rows } = await workerPool.transaction((db) => db.query(settings))
    t.strictSame(rows, [{ seqScan: 'off', jit: 'off' }])
    t.match(
      (await workerPool.pool.query(settings)).rows,
      [{ seqScan: 'on' }],
      'nothing stays behind',
    )
  },
)

t.test('behind a pooler a statement that is given up ends in Postgres', async (t) => {
  const direct = await freshDatabase(t)
  const { url } = await proxyPostgres(t, direct, { refusesOptions: true })
  const database = await openDatabase(url, fail)
  t.teardown(() => database.close())
  t.equal(database.pooled, true)
  const run = () => {
    const late = database.db.within(50).query('select pg_sleep(60)')
    return late.catch((reason: unknown) => reason)
  }
  // A busy machine may not hear of the end in time: then once more.
  const error = await until(run, (reason) => !isConnectionError(reason))
  t.match(error, { code: '57014' }, 'by Postgres')
})

t.test(
  'behind a pooler everything works by polling, and nothing is prepared, locked or listened to',
  async (t) => {
    const database = await freshDatabase(t)
    const { url } = await proxyPostgres(t, database, { refusesOptions: true })
    const got: unknown[] = []
    const { app } = await startHost(t, {
      database: url,
      core: { database: { connectionString: url, max: 2 } },
      setUp: (app) => app.svc.events.subscribe('a', (payload) => void got.push(payload)),
    })
    const elsewhere = await startHost(t, {
      database: url,
      core: { database: { connectionString: url, max: 2 }, worker: { enabled: false } },
    })

    await app.svc.events.publish('a', 'from here')
    await until(() => got.length === 1)
    await elsewhere.app.svc.events.publish('a', 'from elsewhere')
    await until(() => got.length === 2)

    t.strictSame(got, ['from here', 'from elsewhere'])
    const { rows } = await app.svc.database.query(
      `select name from pg_prepared_statements union all select pg_listening_channels()`,
    )
    t.strictSame(rows, [])
    const sessionLocks = `select from pg_locks where locktype = 'advisory' and pid = any(
        select pid from pg_stat_activity where datname = current_database() and state = 'idle')`
    t.equal((await app.svc.database.query(sessionLocks)).rowCount, 0, 'a pooler would keep a lock')
  },
)

t.test('a publish goes on where its prepared statements were deallocated', async (t) => {
  const { app } = await startHost(t)
  await app.svc.events.publish('a', 1)
  await app.svc.database.query('discard all')
  await t.resolves(app.svc.events.publish('a', 2))
})
