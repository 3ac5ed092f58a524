import Fastify from 'fastify'
import pg from 'pg'
import { svcCore } from '@svc/core'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'

/** All publishes of a busy machine wait for so few connections. */
const connectionTimeoutMillis = 60_000

/** Everything that a process does at once: publishes, subscriptions, wakes, sweeps; and how many connections it has at most. */
async function mostConnections(database: string, option: string | pg.PoolConfig | pg.Pool) {
  const watcher = new pg.Client(database)
  await watcher.connect()
  const app = Fastify({ pluginTimeout: 60_000 })
  await app.register(svcCore, { database: option })
  let handled = 0
  for (const name of ['a', 'b', 'c']) {
    await app.svc.events.subscribe(name, () => void handled++)
  }
  await app.ready()

  let most = 0
  let isDone = false
  const watched = (async () => {
    while (!isDone) {
      const { rows } = await watcher.query(
        `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()
            and backend_type = 'client backend'`,
      )
      most = Math.max(most, rows[0].n)
    }
  })()
  const publishes = Array.from({ length: 300 }, (_, i) => [
    app.svc.events.publish('abc'.charAt(i % 3), i),
    // A busy machine may take longer for so many than a request waits.
    app.svc.kv.increment('n').catch(() => {}),
  ])
  await Promise.all(publishes.flat())
  await until(() => handled === 300)
  isDone = true
  await watched
  await app.close()
  await watcher.end()
  return most
}

/** pg-pool's end resolves before its sockets are closed, and the database is dropped then. */
async function end(pool: pg.Pool): Promise<void> {
  pool.on('error', () => {})
  await pool.end()
}

for (const max of [1, 2, 5]) {
  t.test(`a pool that core makes with max ${max}: at most ${max + 2} connections`, async (t) => {
    const database = await freshDatabase(t)
    const options = { connectionString: database, max, connectionTimeoutMillis }
    const most = await mostConnections(database, options)
    t.ok(most <= max + 2, `${most} connections`)
    t.ok(most >= Math.min(max + 2, 4), 'and they were used')
  })

  t.test(
    `a pool that was given with max ${max}: at most ${max + 2}, and it is not ended`,
    async (t) => {
      const database = await freshDatabase(t)
      const pool = new pg.Pool({ connectionString: database, max, connectionTimeoutMillis })
      const most = await mostConnections(database, pool)
      t.ok(most <= max + 2, `${most} connections`)
      t.strictSame((await pool.query('select 1 as one')).rows, [{ one: 1 }])
      t.equal(pool.listenerCount('error'), 0, 'no listener is left on it')
      await end(pool)
    },
  )
}

t.test('further pools connect with the password of a given pool that hides it', async (t) => {
  const database = await freshDatabase(t)
  const { username, password, hostname, port, pathname } = new URL(database)
  const pool = new pg.Pool({
    user: username,
    password: () => decodeURIComponent(password),
    host: hostname,
    port: Number(port),
    database: pathname.slice(1),
    max: 2,
    connectionTimeoutMillis,
  })
  t.ok((await mostConnections(database, pool)) <= 4)
  await end(pool)
})
