import { randomBytes } from 'node:crypto'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { drain, receiver } from '@svc/testing'
import { svcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { run } from '../../../packages/core/src/cli/run.ts'
import { emptyDatabase } from '../../support/fresh-database.ts'

/** The rights of a host, as docs/migrations.md has them. */
const GRANTS = `
  grant usage on schema svc, svc_jobs to $role;
  grant select, insert, update, delete on all tables in schema svc, svc_jobs to $role;`

async function hostRole(t: Test, database: string) {
  const role = `svc_test_role_${randomBytes(5).toString('hex')}`
  const admin = new pg.Client(database)
  await admin.connect()
  await admin.query(`create role ${role} login password 'secret'`)
  t.teardown(async () => {
    await admin.query(`drop owned by ${role} cascade; drop role ${role}`)
    await admin.end()
  })
  const url = new URL(database)
  url.username = role
  url.password = 'secret'
  const sql = (text: string) => admin.query(text.replaceAll('$role', role))
  return { url: url.href, sql }
}

async function migrated(database: string, ...options: string[]) {
  const lines: string[] = []
  const errors: string[] = []
  const output = {
    out: (line: string) => void lines.push(line),
    err: (line: string) => void errors.push(line),
  }
  const env = { DATABASE_URL: database }
  const exitCode = await run(['migrate', ...options], env, output)
  return { exitCode, lines, errors }
}

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
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(svcCore, { database: { connectionString: database, max: 3 }, migrate, schema })
  await app.register(svcAuth, { managementBasePath: null })
  await app.register(svcWebhooks, { allowedEvents: ['a'], allowedNetworks: ['127.0.0.0/8'] })
  return app
}

t.test('a role with rights on rows alone boots, subscribes, publishes and delivers', async (t) => {
  const database = await emptyDatabase(t)
  const { url, sql } = await hostRole(t, database)
  const partner = await receiver()
  t.teardown(() => partner.close())
  t.match(await migrated(database), { exitCode: 0, errors: [] })
  await sql(GRANTS)
  const { rows: before } = await sql(TABLES)

  const handled: unknown[] = []
  const app = await boot(t, url, 'check', ({ svc }) =>
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
  const client = new pg.Client(database)
  await client.connect()
  t.teardown(() => client.end())
  const missing = (message: RegExp) => ({ code: 'SVC_CORE_SCHEMA_MISSING', message })
  await t.rejects(
    boot(t, database, 'check'),
    missing(/@svc\/core are missing from the database: 001-tables\.sql, .*npx svc migrate/),
  )
  t.strictSame((await client.query(TABLES)).rows, [])

  t.match(await migrated(database), { exitCode: 0 })
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
    boot(t, url, 'check', ({ svc }) => svc.events.subscribe('a', () => {}), 'shop')
  t.match(await migrated(database), { exitCode: 0, errors: [] })
  const missing = await migrated(database, '--schema', 'shop', '--check')
  t.match(missing, {
    exitCode: 1,
    errors: [/001-/, /the schema shop_jobs in/, /./, /./, /./, /--schema shop"/],
  })
  await sql('grant usage, create on schema svc, svc_jobs to $role')
  await t.rejects(start(), { code: 'SVC_CORE_SCHEMA_MISSING', message: /--schema/ })
  t.match(await migrated(database, '--schema', 'shop'), { exitCode: 0, errors: [] })
  t.match(await migrated(database, '--check', '--schema', 'shop'), { exitCode: 0 })
  await t.rejects(start(), {
    code: 'SVC_CORE_RIGHTS_MISSING',
    message: /lacks usage on the schema "shop", .* usage on the schema "shop_jobs"/,
  })
  await sql(GRANTS.replaceAll('svc', 'shop'))
  const app = await start()
  await app.svc.events.publish('a', 1)
  await drain(app)
  t.match(await migrated(database, '--schema', 'Shop'), {
    exitCode: 1,
    errors: [/"schema" must be/],
  })
})

t.test('svc migrate makes all, says what, and makes nothing twice', async (t) => {
  const database = await emptyDatabase(t)
  const missing = await migrated(database, '--check')
  const lacks = (owner: string, what: RegExp) =>
    new RegExp(
      `^svc migrate --check: these parts of ${owner} are missing .*: ${what.source}.*SCHEMA`,
    )
  t.match(missing, {
    exitCode: 1,
    lines: [],
    errors: [
      lacks('@svc/core', /001-tables\.sql/),
      lacks('pg-boss', /the schema svc_jobs/),
      lacks('@svc/auth', /001-tables\.sql/),
      lacks('@svc/webhooks', /001-tables\.sql/),
      lacks('@svc/console', /001-tables\.sql/),
      /npx svc migrate/,
    ],
  })
  t.notMatch(missing.errors.join(), /svcCore|option|boot\b/, 'which are words for a host')
  const first = await migrated(database)
  t.equal(first.exitCode, 0)
  t.ok(first.lines.includes('made   @svc/core 001-tables.sql'))
  t.ok(first.lines.includes('made   @svc/webhooks 001-tables.sql'))
  t.ok(first.lines.includes('made   @svc/console 001-tables.sql'))
  t.ok(first.lines.includes('made   @svc/auth 001-tables.sql'))
  t.equal(first.lines.at(-1), 'done')
  for (const options of [[], ['--check']]) {
    const again = await migrated(database, ...options)
    t.match(again, { exitCode: 0, errors: [] })
    t.equal(again.lines.at(-1), 'everything is there')
  }
})

t.test('svc migrate names every package that is behind, and makes those that it can', async (t) => {
  const database = await emptyDatabase(t)
  const client = new pg.Client(database)
  await client.connect()
  t.teardown(() => client.end())
  t.match(await migrated(database), { exitCode: 0 })
  await client.query(
    `delete from svc."__svc.migrations"
      where owner = '@svc/auth' and name = '001-tables.sql'
         or owner = '@svc/console' and name = '002-functions.sql';
     drop trigger "__svc.console.notify_ended" on svc."__svc.console.sessions";
     drop function svc."__svc.console.notify_ended", svc."__svc.console.erase_tenant";
     drop function svc."__svc.console.notify_change" cascade`,
  )
  const behind = await migrated(database, '--check')
  t.match(behind, {
    exitCode: 1,
    errors: [
      /of @svc\/auth are .*: 001-tables\.sql/,
      /of @svc\/console are .*: 002-functions\.sql/,
      /run/,
    ],
  })
  t.equal(behind.errors.length, 3)
  const half = await migrated(database)
  t.match(half, {
    exitCode: 1,
    lines: [/@svc\/auth/, 'made   @svc/console 002-functions.sql'],
    errors: [/^svc migrate: @svc\/auth is not complete: .*already exists.*\(42P07\)/],
  })
})

t.test('wrong arguments of svc migrate are errors with the reason', async (t) => {
  const said: string[] = []
  const output = {
    out: (line: string) => void said.push(line),
    err: (line: string) => void said.push(line),
  }
  t.equal(await run(['--help'], {}, output), 0)
  t.match(said.pop(), /Usage: npx svc migrate/)
  t.equal(await run([], {}, output), 2)
  t.match(said.pop(), /no command was given/)
  t.equal(await run(['migrat'], {}, output), 2)
  t.match(said.pop(), /no command migrat/)
  t.equal(await run(['migrate', '--dry'], {}, output), 2)
  t.match(said.pop(), /no option --dry/)
  t.equal(await run(['migrate', '--schema'], {}, output), 2)
  t.match(said.pop(), /--schema needs the name of a schema/)
  t.equal(await run(['migrate'], {}, output), 2)
  t.match(said.pop(), /DATABASE_URL is not set/)
  const nowhere = { DATABASE_URL: 'postgres://u:topsecret@127.0.0.1:1/x' }
  t.equal(await run(['migrate'], nowhere, output), 1)
  t.match(said.at(-1), /DATABASE_UNREACHABLE/)
  t.notMatch(said.at(-1), /topsecret/)
})

t.test(
  'beside the tables of a later version an older host goes on, with either option',
  async (t) => {
    const database = await emptyDatabase(t)
    await migrated(database)
    const client = new pg.Client(database)
    await client.connect()
    t.teardown(() => client.end())
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
