// promise: A boot without the migrations that it needs is refused or waits, and ten hosts can boot at once
import { drain } from '@svc/testing'
import t, { type Test } from 'tap'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { svc } from '../../support/svc-command.ts'
import { hostRole } from '../support/host-role.ts'
import { sessionOn } from '../../support/session.ts'
import { wholeHost } from '../../support/whole-host.ts'
import { openReceiver } from '../../support/receiver.ts'

/** The rights of a host, as docs/operate/deploy-and-migrate.md has them. */
const GRANTS = `
  grant usage on schema svc, svc_jobs to $role;
  grant select, insert, update, delete on all tables in schema svc, svc_jobs to $role;`

const migrated = (t: Test, database: string, ...options: string[]) =>
  svc(t, ['migrate', ...options], { DATABASE_URL: database })

async function boot(
  t: Test,
  database: string,
  migrate: 'boot' | 'check',
  setUp?: (app: Awaited<ReturnType<typeof appOf>>) => unknown,
  schema?: string,
) {
  const app = await appOf(t, database, migrate, schema)
  await setUp?.(app)
  await app.ready()
  return app
}

async function appOf(t: Test, database: string, migrate: 'boot' | 'check', schema?: string) {
  const app = await wholeHost(
    t,
    { database: { connectionString: database, max: 3 }, migrate, schema },
    { auth: { managementBasePath: null }, webhooks: { allowedEvents: ['a'] } },
  )
  return app
}

t.test('a role with rights on rows alone boots, subscribes, publishes and delivers', async (t) => {
  const database = await emptyDatabase(t)
  const { url, sql } = await hostRole(t, database)
  const partner = await openReceiver(t)
  t.match(await migrated(t, database), { exitCode: 0 })
  await sql(GRANTS)
  const { rows: before } = await sql(TABLES)

  const handled: unknown[] = []
  const app = await boot(t, url.href, 'check', ({ svc }) =>
    svc.events.subscribe('a', (payload) => void handled.push(payload), { subscription: 'mine' }),
  )
  const { secret } = await app.svc.webhooks.register({ url: partner.url, events: ['a'] })
  partner.secret = secret
  await app.svc.events.publish('a', 1)
  await drain(app)
  t.strictSame(handled, [1])
  t.match(partner.received, [{ verified: true, body: { payload: 1 } }])
  await app.svc.auth.createUser({ email: 'a@example.com', name: 'A' })
  const { rows: after } = await sql(TABLES)
  t.strictSame(after, before, 'no table, index or function was made')
})

const TABLES = `select relname from pg_class join pg_namespace as s on s.oid = relnamespace
  where nspname in ('svc', 'svc_jobs') order by relname`

t.test('a host that only checks migrations lists what is missing', async (t) => {
  const database = await emptyDatabase(t)
  const client = await sessionOn(t, database)
  const missing = (message: RegExp) => ({ code: 'SVC_CORE_SCHEMA_MISSING', message })
  await t.rejects(
    boot(t, database, 'check'),
    missing(/@svc\/core are missing from the database: 001-tables\.sql, .*npx svc migrate/),
  )
  t.strictSame((await client.query(TABLES)).rows, [])

  t.match(await migrated(t, database), { exitCode: 0 })
  await client.query(
    `delete from svc."__svc.migrations" where owner = '@svc/core' and name = '002-functions.sql'`,
  )
  await t.rejects(
    boot(t, database, 'check'),
    missing(/of @svc\/core are missing from the database: 002-functions\.sql\. Run/),
  )
  await client.query(
    `insert into svc."__svc.migrations" (owner, name) values ('@svc/core', '002-functions.sql')`,
  )
  await client.query('update svc_jobs.version set version = 1')
  await t.rejects(
    boot(t, database, 'check'),
    missing(/pg-boss are missing from the database: the schema svc_jobs in version/),
  )
})

t.test('svc migrate and a host that only checks work in another schema', async (t) => {
  const database = await emptyDatabase(t)
  const { url, sql } = await hostRole(t, database)
  const start = () =>
    boot(t, url.href, 'check', ({ svc }) => svc.events.subscribe('a', () => {}), 'shop')
  t.match(await migrated(t, database), { exitCode: 0 })
  const missing = await migrated(t, database, '--schema', 'shop', '--check')
  t.match(missing, {
    exitCode: 1,
    errors: [/001-/, /the schema shop_jobs in/, /./, /./, /./, /--schema shop"/],
  })
  await sql('grant usage, create on schema svc, svc_jobs to $role')
  await t.rejects(start(), { code: 'SVC_CORE_SCHEMA_MISSING', message: /--schema/ })
  t.match(await migrated(t, database, '--schema', 'shop'), { exitCode: 0 })
  t.match(await migrated(t, database, '--check', '--schema', 'shop'), { exitCode: 0 })
  await t.rejects(start(), {
    code: 'SVC_CORE_RIGHTS_MISSING',
    message: /lacks usage on the schema "shop", .* usage on the schema "shop_jobs"/,
  })
  await sql(GRANTS.replaceAll('svc', 'shop'))
  const app = await start()
  await app.svc.events.publish('a', 1)
  await drain(app)
  t.match(await migrated(t, database, '--schema', 'Shop'), {
    exitCode: 2,
    errors: [/--schema must be/],
  })
})

t.test(
  'beside the tables of a later version an older host goes on, with either option',
  async (t) => {
    const database = await emptyDatabase(t)
    await migrated(t, database)
    const client = await sessionOn(t, database)
    const handled: unknown[] = []
    const older = await boot(t, database, 'check', ({ svc }) =>
      svc.events.subscribe('a', (payload) => void handled.push(payload)),
    )
    // What a later version may do: add, and change nothing that is there.
    await client.query(`
    alter table svc."__svc.events" add column later text default 'x';
    create table svc."__svc.later" (id int);
    insert into svc."__svc.migrations" (owner, name) values ('@svc/core', '999-later.sql');
    update svc_jobs.version set version = version + 1`)
    const newer = await boot(t, database, 'boot')
    await newer.svc.events.publish('a', 'from the newer')
    await older.svc.events.publish('a', 'from the older')
    await drain(older)
    t.strictSame(handled.toSorted(), ['from the newer', 'from the older'])
    await older.close()
    await boot(t, database, 'check')
  },
)
