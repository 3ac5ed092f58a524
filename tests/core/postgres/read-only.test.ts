/** Moments in which Postgres answers and takes no writes. */
import pg from 'pg'
import t from 'tap'
import { createSvc } from '../../../packages/core/src/index.ts'
import type { Db } from '../../../packages/core/src/postgres/transaction.ts'
import { startHost } from '../support/host.ts'
import { sessionOn } from '../../support/session.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { startPostgres } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

async function setReadOnly(admin: pg.Client, is: 'on' | 'off'): Promise<void> {
  await admin.query('set default_transaction_read_only = off')
  await admin.query(`alter system set default_transaction_read_only = ${is}`)
  await admin.query('select pg_reload_conf()')
}

const WARNING = /^Postgres refuses writes at the moment/

t.test(
  'a server that only reads is told from one that is away, and is used again by itself',
  async (t) => {
    const server = await startPostgres()
    t.teardown(() => server.stop())
    const admin = await sessionOn(t, server.url)
    const received: string[] = []
    const { app, log } = await startHost(t, {
      database: server.url,
      setUp: (app) =>
        app.svc.events.subscribe('order.created', (_payload, { id }) => void received.push(id), {
          subscription: 'orders',
        }),
    })
    const { svc } = app
    await svc.events.publish('order.created', {}, { id: 'before' })
    await setReadOnly(admin, 'on')
    const refused = await until(
      () => svc.events.publish('order.created', {}, { id: 'no' }).catch((error: unknown) => error),
      (answer) => answer instanceof Error,
    )
    t.match(refused, { code: 'SVC_UNAVAILABLE', message: /^the database only reads at the moment/ })
    t.match((await svc.health()).database, { ok: false, reason: /only reads at the moment/ })
    t.ok(log.some(({ msg }) => WARNING.test(String(msg))))

    await setReadOnly(admin, 'off')
    await until(async () => (await svc.health()).database.ok)
    await until(() =>
      svc.events.publish('order.created', {}, { id: 'after' }).then(
        () => true,
        () => false,
      ),
    )
    await until(() => received.includes('before') && received.includes('after'))
  },
)

t.test('a boot on a server that only reads is refused in a sentence', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  const admin = await sessionOn(t, server.url)
  const { host } = new URL(server.url)
  const refused = {
    code: 'SVC_CORE_DATABASE_UNREACHABLE',
    message: `svcCore: Postgres at ${host} takes no writes at the moment (it is a standby, or default_transaction_read_only is on): boot again when it does, or check the option "database" (by default the secret DATABASE_URL)`,
  }
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  t.teardown(() => pool.end())
  pool.on('error', () => {})
  await setReadOnly(admin, 'on')
  await until(
    () => pool.query('show default_transaction_read_only'),
    (answer) => answer.rows[0].default_transaction_read_only === 'on',
  )
  await t.rejects(createSvc({ core: { database: server.url } }), refused)
  await t.rejects(createSvc({ core: { database: pool } }), refused)
  await t.rejects(createSvc({ core: { database: `${server.url}?target_session_attrs=primary` } }), {
    ...refused,
    message: /takes no writes at the moment \(.*\): boot again when it does/,
  })
  await setReadOnly(admin, 'off')
  await until(() =>
    createSvc({ core: { database: server.url } }).then(
      (svc) => svc.close().then(() => true),
      () => false,
    ),
  )
})

t.test(
  'connections to a server that only reads are left where another one takes the writes',
  async (t) => {
    const pair = await startPostgres({}, { standby: 'late' })
    t.teardown(() => pair.stop())
    const proxy = await proxyPostgres(t, pair.url)
    const { app, core } = await startHost(t, {
      core: { database: { connectionString: proxy.url, max: 4 } },
      database: proxy.url,
    })
    const { svc } = app
    const portOf = async (db: Pick<Db, 'query'>) =>
      (await db.query('select inet_server_port()::text as port')).rows[0].port
    const listener: Pick<Db, 'query'> = {
      query: (text, values = []) => core.notifications.query(text, values, { timeoutMs: 10_000 }),
    }
    const [old, standby] = [await sessionOn(t, pair.url), await sessionOn(t, pair.standby!)]
    const { rows } = await old.query('select pg_current_wal_lsn()::text as lsn')
    await until(
      () => standby.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as "has"', [rows[0].lsn]),
      (answer) => answer.rows[0].has,
    )
    await listener.query('select 1')
    // The old connections stay, as those of a proxy that only leads new ones to the new primary.
    await setReadOnly(old, 'on')
    await standby.query('select pg_promote()')
    proxy.moveTo(pair.standby!)
    // The listener runs a statement meanwhile. Postgres does not refuse it, since it writes nothing.
    await old.query('select pg_advisory_lock(1)')
    const waiting = listener.query('select pg_advisory_lock_shared(1)').catch(() => {})
    await until(() =>
      svc.events.publish('order.created', {}).then(
        () => true,
        () => false,
      ),
    )
    const others = () =>
      old.query(
        `select from pg_stat_activity
          where backend_type = 'client backend' and datname = current_database()
            and pid <> pg_backend_pid() and wait_event is distinct from 'advisory'`,
      )
    await until(others, ({ rowCount }) => rowCount === 0)
    await old.query('select pg_advisory_unlock(1)')
    await waiting
    const { port } = new URL(pair.standby!)
    for (const db of [svc.database, listener]) {
      await until(
        () => portOf(db).catch(() => undefined),
        (at) => at === port,
      )
    }
    await until(async () => (await svc.health()).ok)
    t.pass('without a restart')
  },
)

t.test(
  'with a list of hosts, reads go on while the primary takes no writes, and writes follow',
  async (t) => {
    const server = await startPostgres()
    t.teardown(() => server.stop())
    const admin = await sessionOn(t, server.url)
    const { host, pathname } = new URL(server.url)
    const connectionString = server.url.replace(host, `127.0.0.1:1,${host}`)
    const { app } = await startHost(t, {
      core: { database: { connectionString, max: 4 } },
      database: server.url,
    })
    const { svc } = app
    const published = () =>
      svc.events.publish('order.created', {}).then(
        () => 'published',
        ({ message }: Error) => message,
      )
    // Sessions have it from their beginning to their end.
    const name = pg.escapeIdentifier(pathname.slice(1))
    await admin.query(`alter database ${name} set default_transaction_read_only = on`)
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    const answer = await until(
      () => svc.database.query('select 1 as one').catch(() => undefined),
      (answer) => answer !== undefined,
    )
    t.match(answer, { rows: [{ one: 1 }] })
    await until(published, (text) => text.startsWith('the database only reads at the moment'))
    await admin.query(`alter database ${name} reset default_transaction_read_only`)
    await until(published, (text) => text === 'published')
    await until(async () => (await svc.health()).database.ok)
  },
)

t.test(
  'a disk that is full is named, and an event that was refused can be published when it is not',
  async (t) => {
    const { app, core, log } = await startHost(t)
    const { svc } = app
    // As Postgres says it where a table cannot grow.
    await core.db.query(`create function public.is_full() returns trigger language plpgsql as $$
    begin raise 'could not extend file' using errcode = '53100'; end $$`)
    await core.db.query(
      `create trigger is_full before insert on svc."__svc.events" for each row execute function public.is_full()`,
    )
    await t.rejects(svc.events.publish('order.created', {}, { id: 'once' }), {
      code: 'SVC_UNAVAILABLE',
      message: /^the disk of the database is full/,
    })
    t.match((await svc.health()).database, { ok: false, reason: /disk of the database is full/ })
    t.ok(log.some(({ msg }) => WARNING.test(String(msg))))
    await core.db.query('drop trigger is_full on svc."__svc.events"')
    await svc.events.publish('order.created', {}, { id: 'once' })
    await until(async () => (await svc.health()).database.ok)
  },
)
