import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase } from '../support/fresh-database.ts'
import { startSvc, svc } from '../support/svc-command.ts'
import { sessionOn } from '../support/session.ts'

const migrated = (t: Test, database: string, ...options: string[]) =>
  svc(t, ['migrate', ...options], { DATABASE_URL: database })

t.test('svc migrate makes all, says what, and makes nothing twice', async (t) => {
  const database = await emptyDatabase(t)
  const missing = await migrated(t, database, '--check')
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
  const first = await migrated(t, database)
  t.equal(first.exitCode, 0)
  t.match(first.errors.join('\n'), /@svc\/core[^]*@svc\/auth[^]*@svc\/webhooks/, 'its progress')
  for (const owner of ['@svc/core', '@svc/auth', '@svc/webhooks', '@svc/console']) {
    t.ok(first.lines.includes(`made   ${owner} 001-tables.sql`))
  }
  t.equal(first.lines.at(-1), 'done')
  for (const options of [[], ['--check']]) {
    const again = await migrated(t, database, ...options)
    t.equal(again.exitCode, 0)
    t.equal(again.lines.at(-1), 'everything is there')
  }
  const facts = await migrated(t, database, '--check', '--json')
  t.match(JSON.parse(facts.text), { made: [], missing: [], packages: ['@svc/core', /./, /./, /./] })
})

t.test('svc migrate names every package that is behind, and makes those that it can', async (t) => {
  const database = await emptyDatabase(t)
  const client = await sessionOn(t, database)
  t.match(await migrated(t, database), { exitCode: 0 })
  await client.query(
    `delete from svc."__svc.migrations"
      where owner = '@svc/auth' and name = '001-tables.sql'
         or owner = '@svc/console' and name = '002-functions.sql';
     drop trigger "__svc.console.notify_ended" on svc."__svc.console.sessions";
     drop function svc."__svc.console.notify_ended", svc."__svc.console.erase_tenant";
     drop function svc."__svc.console.notify_change" cascade`,
  )
  const behind = await migrated(t, database, '--check')
  t.match(behind, {
    exitCode: 1,
    errors: [
      /of @svc\/auth are .*: 001-tables\.sql/,
      /of @svc\/console are .*: 002-functions\.sql/,
      /run/,
    ],
  })
  t.equal(behind.errors.length, 3)
  const half = await migrated(t, database)
  t.match(half, { exitCode: 1, lines: [/@svc\/auth/, 'made   @svc/console 002-functions.sql'] })
  t.match(
    half.errors.at(-1),
    /^svc migrate: @svc\/auth is not complete: .*already exists.*\(42P07\)/,
  )
})

async function roleOf(t: Test, client: pg.Client): Promise<string> {
  const role = `svc_test_role_${randomBytes(5).toString('hex')}`
  await client.query(`create role ${role}`)
  t.teardown(() => client.query(`drop owned by ${role} cascade; drop role ${role}`))
  return role
}

t.test('--grant-to gives a role what hosts need, on tables that are made later too', async (t) => {
  const database = await emptyDatabase(t)
  const client = await sessionOn(t, database)
  const role = await roleOf(t, client)
  t.match(await migrated(t, database), { exitCode: 0 })
  const before = await migrated(t, database, '--check', '--grant-to', role)
  t.equal(before.exitCode, 1)
  t.match(before.errors.join('\n'), /the role lacks: grant usage on schema svc to/)
  t.match(await migrated(t, database, '--grant-to', role), { exitCode: 0 })
  t.match(await migrated(t, database, '--check', '--grant-to', role), { exitCode: 0 })

  await client.query(`create table svc."__svc.later" (id int);
    create table svc."__svc.webhooks.delivery_log.2100-01-01"
      partition of svc."__svc.webhooks.delivery_log"
      for values from ('ffffff00-0000-7000-8000-000000000000') to ('ffffff01-0000-7000-8000-000000000000')`)
  const { rows } = await client.query(
    `select relname from pg_class
      where relnamespace in ('svc'::regnamespace, 'svc_jobs'::regnamespace) and relkind in ('r', 'p')
        and not has_table_privilege($1, oid, 'select, insert, update, delete')`,
    [role],
  )
  t.strictSame(rows, [])
})

t.test('a role that does not exist is named, and nothing is made', async (t) => {
  const database = await emptyDatabase(t)
  const client = await sessionOn(t, database)
  const { exitCode, errors } = await migrated(t, database, '--grant-to', 'nobody_here')
  t.equal(exitCode, 1)
  t.match(errors, [/^svc migrate: there is no role "nobody_here"/])
  const { rows } = await client.query(`select to_regnamespace('svc') as schema`)
  t.strictSame(rows, [{ schema: null }])
})

t.test(
  'wrong arguments, and a database that does not answer, each have an exit code',
  async (t) => {
    const nowhere = { DATABASE_URL: 'postgres://u:topsecret@127.0.0.1:1/x' }
    const cases: [string[], Record<string, string>, number, RegExp][] = [
      [['--help'], {}, 0, /Usage: svc <verb>[^]*migrate/],
      [['--version'], {}, 0, /^0\.\d+\.\d+$/],
      [['migrate', '--help'], {}, 0, /Usage: svc migrate/],
      [[], {}, 2, /Usage: svc <verb>/],
      [['migrat'], {}, 2, /unknown command 'migrat'[^]*migrate/],
      [['migrate', '--dry'], {}, 2, /unknown option '--dry'/],
      [['migrate', 'now'], {}, 2, /too many arguments/],
      [['migrate', '--schema'], {}, 2, /--schema <name>' argument missing/],
      [['migrate'], {}, 2, /DATABASE_URL is not set/],
      [['migrate'], { DATABASE_URL: 'app' }, 2, /must be a URL like postgres:.*check DATABASE_URL/],
      [['migrate'], nowhere, 3, /DATABASE_UNREACHABLE/],
      [['migrate', '--check'], nowhere, 3, /DATABASE_UNREACHABLE/],
    ]
    await Promise.all(
      cases.map(async ([args, env, exitCode, says]) => {
        const ran = await svc(t, args, env)
        const printed = [...ran.lines, ...ran.errors].join('\n')
        t.equal(ran.exitCode, exitCode, args.join(' '))
        t.match(printed, says)
        t.notMatch(printed, /topsecret|svcCore:|option "database"|\n {4}at /)
      }),
    )
  },
)

t.test('a role that may not sign in is exit code 3', async (t) => {
  const url = new URL(await emptyDatabase(t))
  url.username = 'svc_no_such_login'
  const { exitCode, errors } = await migrated(t, url.href)
  t.equal(exitCode, 3)
  t.match(errors.at(-1), /reference\/errors#svc-core-database-unreachable$/)
})

t.test('Ctrl-C ends it with 0, and leaves nothing half made', async (t) => {
  const database = await emptyDatabase(t)
  const client = await sessionOn(t, database)
  await client.query('begin')
  await client.query('select pg_advisory_xact_lock(7763001)')
  const command = startSvc(t, ['migrate'], { DATABASE_URL: database })
  await command.says(/@svc\/core/)
  command.interrupt()
  t.match(await command.ended, { exitCode: 0 })
  await client.query('commit')
  t.match(await migrated(t, database), { exitCode: 0 })
})

t.test('--plan prints the SQL, which makes what svc migrate makes', async (t) => {
  for (const options of [[], ['--schema', 'shop']]) {
    const [planned, made] = [await emptyDatabase(t), await emptyDatabase(t)]
    const client = await sessionOn(t, planned)
    const role = await roleOf(t, client)
    const grant = ['--grant-to', role]
    const plan = await migrated(t, planned, '--plan', ...grant, ...options)
    t.match(plan, { exitCode: 1, errors: [] })
    t.match(plan.text, /create table .*"__svc\.events"[^]*grant usage/)
    t.strictSame((await client.query(SHAPE)).rows, [], 'nothing was made')
    await client.query(plan.text)
    t.match(await migrated(t, planned, '--check', ...grant, ...options), { exitCode: 0 })
    t.match(await migrated(t, planned, '--plan', ...grant, ...options), {
      exitCode: 0,
      lines: ['-- everything is there'],
    })
    await migrated(t, made, ...options)
    const expected = await sessionOn(t, made)
    t.strictSame((await client.query(SHAPE)).rows, (await expected.query(SHAPE)).rows)
    const queues = `select name, policy, retry_limit, expire_seconds, dead_letter, table_name
      from ${options[1] ?? 'svc'}_jobs.queue order by name`
    t.strictSame((await client.query(queues)).rows, (await expected.query(queues)).rows)
  }
})

/** Tables, indexes, functions and triggers; without the partitions of days. */
const SHAPE = `
  select relname as name, relkind::text as kind from pg_class
   where relnamespace::regnamespace::text ~ '^(svc|shop)' and relname !~ '[0-9]{4}.?[0-9]{2}.?[0-9]{2}|delivery_log[.]2'
  union all select proname, 'function' from pg_proc
   where pronamespace::regnamespace::text ~ '^(svc|shop)'
  union all select tgname, 'trigger' from pg_trigger where not tgisinternal
   and tgrelid::regclass::text !~ '[0-9]{4}.?[0-9]{2}.?[0-9]{2}|delivery_log[.]2'
  order by 1, 2`

t.test('--check and --plan are not asked for together', async (t) => {
  t.match(await migrated(t, 'postgres://nobody@127.0.0.1:1/x', '--check', '--plan'), {
    exitCode: 2,
    errors: [/cannot be used with/],
  })
})
