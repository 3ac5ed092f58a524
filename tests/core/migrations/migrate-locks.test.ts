// promise: A boot without the migrations that it needs is refused or waits, and ten hosts can boot at once
import { pathToFileURL } from 'node:url'
import { svcCore } from '@svc/core'
import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { WorkerPool } from '../../../packages/core/src/postgres/worker-pool.ts'
import { migrate } from '../../../packages/core/src/migrations/migrate.ts'
import { withMigrationLock } from '../../../packages/core/src/migrations/migration-lock.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost } from '../support/host.ts'
import { NEXT, nextVersion } from '../support/next-version.ts'
import { until } from '../../support/until.ts'
import { wholeHost } from '../../support/whole-host.ts'

function poolOf(t: Test, connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1 })
  // Its end resolves before its sockets are closed, and the database is dropped then.
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  return pool
}

async function connect(t: Test, database: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database, application_name: 'the test' })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** A migration waits for a table that others use. */
const isWaiting = (client: pg.Client) =>
  until(
    () =>
      client.query(
        `select from pg_locks where mode = 'AccessExclusiveLock' and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      ),
    ({ rowCount }) => rowCount === 1,
  )

/**
 * A host of one version, one of whose transactions has published, and what registers the next version,
 * which alters a table that publishes read.
 */
async function oldVersion(t: Test) {
  const database = await freshDatabase(t)
  const old = await startHost(t, { database, core: { worker: { enabled: false } } })
  const migration = nextVersion(t, 'alter table svc."__svc.subscriptions" add column next int')
  const registerNext = async (app: FastifyInstance) => {
    await app.register(svcCore, {
      database: { connectionString: database, max: 2, application_name: 'the next' },
    })
    await migration(app)
  }
  const client = await connect(t, database)
  const watcher = await connect(t, database)
  await client.query('begin')
  await old.app.svc.events.publish('a', 1, { db: client })
  return { old, registerNext, client, watcher }
}

t.test(
  'a migration that waits longer than pluginTimeout lets others publish, and comes to its end',
  async (t) => {
    const { old, registerNext, client, watcher } = await oldVersion(t)
    // What follows the migration has as much time, on a machine that may be busy.
    const pluginTimeout = 8000
    const beganMs = performance.now()
    const next = Fastify({ pluginTimeout })
    t.teardown(() => next.close())
    let isUp = false
    const booted = (async () => {
      await registerNext(next)
      await next.ready()
      isUp = true
    })()
    for (let n = 0; n < 3; n++) {
      await isWaiting(watcher)
      // It would be refused after fifteen seconds behind a lock that waits without end.
      await old.app.svc.events.publish('b', n)
    }
    await until(() => performance.now() - beganMs > pluginTimeout)
    t.equal(isUp, false)
    await client.query('rollback')
    await booted
    const { rows } = await next.svc.database.query(
      `select name from svc."__svc.migrations" where name = $1`,
      [NEXT],
    )
    t.equal(rows.length, 1)
  },
)

t.test('a boot that is aborted while its migration waits leaves nothing running', async (t) => {
  const { registerNext, client, watcher } = await oldVersion(t)
  const next = Fastify({ pluginTimeout: 500 })
  next.register(registerNext)
  await t.rejects(async () => next.ready(), { code: 'FST_ERR_PLUGIN_TIMEOUT' })
  await next.close()
  const left = `select from pg_stat_activity
     where datname = current_database() and application_name = 'the next'`
  await until(
    () => watcher.query(left),
    ({ rowCount }) => rowCount === 0,
  )
  await client.query('rollback')
})

t.test('a migration that never gets its lock says which session holds it', async (t) => {
  const database = await freshDatabase(t)
  const pool = poolOf(t, database)
  const workerPool = new WorkerPool(poolOf(t, database), false)
  const said: object[] = []
  const log = { info: () => {}, warn: (details: object) => void said.push(details) }
  const holder = await connect(t, database)
  await holder.query('create table busy ()')
  await holder.query('begin; lock table busy in access share mode')
  const { rows } = await holder.query('select pg_backend_pid() as pid')
  const folder = t.testdir({ '001-busy.sql': 'alter table busy add column a int' })

  const { signal } = new AbortController()
  // Longer than one try: the session is looked up while a try waits.
  const boot = { pool, workerPool, log, signal, giveUpMs: 5000, citus: null }
  await t.rejects(migrate(boot, 'test', pathToFileURL(`${folder}/`)), {
    code: 'SVC_CORE_MIGRATION_BLOCKED',
    message: new RegExp(
      `^svcCore: the migration 001-busy.sql of test has waited \\d+ seconds for a lock on busy that is held by session ${rows[0].pid} of "\\w+" \\(the test, idle in transaction\\), whose transaction is open for \\d+ seconds: end that`,
    ),
  })
})

t.test('a boot that never gets the migration lock names the session that holds it', async (t) => {
  const database = await freshDatabase(t)
  const [one, other] = [1, 2].map(() => ({
    workerPool: new WorkerPool(poolOf(t, database), false),
    log: { info() {}, warn() {} },
    signal: new AbortController().signal,
    giveUpMs: 1,
  }))
  await withMigrationLock(one!, async (turn) => {
    const { rows } = await turn.query('select pg_backend_pid() as pid')
    await t.rejects(
      withMigrationLock(other!, async () => t.fail('two at once')),
      {
        code: 'SVC_CORE_MIGRATION_BLOCKED',
        message: new RegExp(
          `another process that makes or changes tables \\(session ${rows[0].pid}`,
        ),
      },
    )
  })
  await t.resolves(withMigrationLock(other!, async () => {}))
})

t.test('a boot that has nothing to change waits for no lock on a table', async (t) => {
  const database = await freshDatabase(t)
  const boot = async () => {
    const app = await wholeHost(
      t,
      { database: { connectionString: database, max: 3 } },
      { webhooks: { allowedEvents: ['a'] } },
    )
    await app.svc.events.subscribe('b', () => {})
    await app.ready()
    return app
  }
  await boot()
  const client = await connect(t, database)
  const { rows } = await client.query(
    `select format('%I.%I', nspname, relname) as name
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname in ('svc', 'svc_jobs') and relkind in ('r', 'p')`,
  )
  t.ok(rows.length > 10)
  await client.query('begin')
  await client.query(`lock table ${rows.map(({ name }) => name).join(', ')} in row exclusive mode`)

  await t.resolves(boot())
})
