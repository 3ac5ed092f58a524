import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockKeyOf } from '../../packages/core/src/processes/process-lock.ts'
import { svcCore, type SvcCoreOptions } from '@svc/core'
import { migrateAll } from '@svc/core/internal'
import { advance } from '@svc/testing'
import { svcWebhooks } from '@svc/webhooks'
import Fastify from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase, emptyDatabaseWith, freshDatabase } from '../support/fresh-database.ts'
import { startPostgres } from '../support/postgres.ts'
import { svc, type Place } from '../support/svc-command.ts'
import { until, untilCount } from '../support/until.ts'
import { sessionOn } from '../support/session.ts'
import { newHost } from '../support/new-host.ts'

async function sqlOf(t: Test, database: string) {
  const client = await sessionOn(t, database)
  return async (text: string) => (await client.query(text)).rows
}

/** With the tables of all packages of the folder. */
async function migratedDatabase(t: Test): Promise<string> {
  const database = await freshDatabase(t)
  await migrate(database)
  return database
}

async function migrate(url: string): Promise<void> {
  const { signal } = new AbortController()
  await migrateAll({
    database: { connectionString: url },
    schema: undefined,
    log: Fastify().log,
    signal,
  })
}

async function startHost(t: Test, database: string, core: SvcCoreOptions = {}) {
  const app = newHost(t)
  await app.register(svcCore, { database, ...core })
  await app.register(svcWebhooks, { allowedEvents: ['order.created'] })
  return app
}

async function doctor(
  t: Test,
  database: string,
  env: Record<string, string> = {},
  place: Place = {},
) {
  const ran = await svc(t, ['doctor', '--json'], { DATABASE_URL: database, ...env }, place)
  type Facts = { findings: { code: string; what: string; remedy: string }[]; facts: object }
  const { findings, facts } = JSON.parse(ran.text) as Facts
  t.ok(findings.every(({ what, remedy }) => what.length > 10 && remedy.length > 10))
  t.equal(ran.exitCode, findings.length === 0 ? 0 : 1)
  const found: Record<string, string> = {}
  // The servers of the tests have fsync off.
  const others = findings.filter(({ code }) => code !== 'FSYNC_OFF')
  for (const { code, what } of others) found[code] = `${found[code] ?? ''}${what}\n`
  return { codes: others.map(({ code }) => code), found, facts }
}

/** Deliveries that are due for two hours. */
const LATE = (queue: string, recipient: string) => `
  insert into svc_jobs.job (name, data, start_after, group_id, singleton_key, policy, blocked)
  values ('${queue}', '{"event":"order.created"}', now() - interval '2 hours',
          '${recipient}', '${recipient}', 'standard', true)`
t.test('where nothing is wrong it finds nothing, and changes nothing', async (t) => {
  const server = await startPostgres({ fsync: 'on' })
  t.teardown(() => server.stop())
  const database = server.url
  await migrate(database)
  const sql = await sqlOf(t, database)
  const app = await startHost(t, database)
  await app.svc.events.subscribe('order.created', () => {}, { subscription: 'mail' })
  await app.ready()
  await app.svc.webhooks.pauseAll({ reason: 'we send wrong amounts' })
  // The console is installed, and no host registers it.
  await sql('drop table svc."__svc.console.portal_codes"')
  const count = `select (select count(*) from svc."__svc.processes") as processes,
    (select count(*) from pg_class) as relations, (select count(*) from svc."__svc.audit") as audit`
  const before = await sql(count)
  const { codes, facts } = await doctor(t, database)
  t.strictSame(codes, [])
  t.match(facts, {
    processes: 1,
    paused: [{ scope: 'all', reason: 'we send wrong amounts' }],
    deadLetters: 0,
    server: { version: /^\d/, pooler: false },
    versions: { '@svc/core': /^\d/, '@svc/cli': /^\d/ },
  })
  t.strictSame(await sql(count), before)
  await sql(`insert into svc_jobs.job (name, data, policy)
    values ('__svc.sub/mail.dlq', '{}', 'standard')`)
  t.match(await svc(t, ['doctor'], { DATABASE_URL: database }), {
    exitCode: 0,
    text: /^warning {2}1 dead letter of .* npx svc redrive mail\n[^]*1 live process\n[^]*paused since[^]*nothing to do\n$/,
  })
})

t.test('missing parts, and tables of jobs that differ', async (t) => {
  const empty = await doctor(t, await emptyDatabase(t))
  t.match(empty.found, { PARTS_MISSING: /001-tables\.sql/ })
  const database = await migratedDatabase(t)
  const sql = await sqlOf(t, database)
  await sql('alter table svc_jobs.job rename group_tier to tier')
  t.match((await doctor(t, database)).found, { JOBS_SCHEMA_DIFFERS: /no column "group_tier"/ })
})

t.test('rights that the role lacks', async (t) => {
  const database = await migratedDatabase(t)
  const sql = await sqlOf(t, database)
  const role = `svc_test_role_${Math.random().toString(36).slice(2)}`
  await sql(`create role ${role} login password 'secret'`)
  t.teardown(() => sql(`drop owned by ${role} cascade; drop role ${role}`))
  const url = Object.assign(new URL(database), { username: role, password: 'secret' })
  t.match((await doctor(t, url.href)).found, { RIGHT_MISSING: /usage on the schema/ })
  for (const args of [['status'], ['pause']]) {
    t.match(await svc(t, args, { DATABASE_URL: url.href }), {
      exitCode: 1,
      errors: [/permission denied .*: the role of DATABASE_URL lacks rights.*"npx svc doctor"/],
    })
  }
  await svc(t, ['migrate', '--grant-to', role], { DATABASE_URL: database })
  t.strictSame((await doctor(t, url.href)).codes, [])
})

t.test('a clock that is wrong', async (t) => {
  const late = 'const now = Date.now; Date.now = () => now() - 60000'
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(late)}` }
  const { found } = await doctor(t, await migratedDatabase(t), env)
  t.match(found, { CLOCK_DIFFERS: /60\.\d seconds behind/ })
})

t.test('settings of the server', async (t) => {
  const database = await migratedDatabase(t)
  const sql = await sqlOf(t, database)
  const [{ name }] = (await sql('select current_database() as name')) as [{ name: string }]
  await sql(`alter database ${name} set synchronous_commit = off;
    alter database ${name} set default_transaction_read_only = on`)
  t.match((await doctor(t, database)).codes, ['DATABASE_READ_ONLY', 'COMMITS_NOT_DURABLE'])
  t.match(await svc(t, ['doctor'], { DATABASE_URL: database }), {
    exitCode: 1,
    text: /FSYNC_OFF {2}fsync is off.*\n {2}remedy {2}Set fsync to on/,
  })

  const server = await startPostgres({ autovacuum: 'off', max_connections: '40' })
  t.teardown(() => server.stop())
  const clients = Array.from({ length: 5 }, () => new pg.Client(server.url))
  for (const client of clients) {
    await client.connect()
    t.teardown(() => client.end())
  }
  await clients[0]!.query('create database app')
  const url = Object.assign(new URL(server.url), { pathname: '/app' }).href
  const { codes } = await doctor(t, url)
  t.ok(codes.includes('AUTOVACUUM_OFF'))
  t.notOk(codes.includes('CONNECTIONS_NEARLY_USED_UP'))
  const more = Array.from({ length: 29 }, () => new pg.Client(server.url))
  for (const client of more) {
    await client.connect()
    t.teardown(() => client.end())
  }
  t.ok((await doctor(t, url)).codes.includes('CONNECTIONS_NEARLY_USED_UP'))
})

t.test('a database of another encoding', async (t) => {
  const options = `encoding 'SQL_ASCII' locale_provider libc lc_collate 'C' lc_ctype 'C'`
  const { found } = await doctor(t, await emptyDatabaseWith(t, options))
  t.match(found, { SVC_CORE_DATABASE_NOT_UTF8: /UTF8/ })
})

t.test(
  'processes with other options or of another version, but not one that just booted',
  async (t) => {
    const database = await migratedDatabase(t)
    const sql = await sqlOf(t, database)
    await (await startHost(t, database)).ready()
    await (await startHost(t, database, { worker: { maxAttempts: 3 } })).ready()
    t.strictSame((await doctor(t, database)).codes, [])
    await sql(`update svc."__svc.processes" set started_at = now() - interval '1 minute'`)
    const { codes, found } = await doctor(t, database)
    t.strictSame(codes, ['OPTIONS_DIFFER'])
    t.match(found['OPTIONS_DIFFER'], /"worker\.maxAttempts" of svcCore: (17 and 3|3 and 17)/)
    await sql(`update svc."__svc.processes"
    set declares = jsonb_set(declares, '{about,version}', '"0.0.9"')
    where id = (select max(id::text)::uuid from svc."__svc.processes" where closed_at is null)`)
    t.match((await doctor(t, database)).found, { PROCESSES_DIFFER: /0\.0\.9, 0\.1\.0/ })
  },
)

t.test('a task that fails', async (t) => {
  const database = await migratedDatabase(t)
  const sql = await sqlOf(t, database)
  const app = await startHost(t, database)
  await app.ready()
  await sql('alter table svc."__svc.filter_changes" rename to gone')
  await advance(app, 1).catch(() => {})
  const failing = async () =>
    sql(`select from svc."__svc.processes" where declares ? 'failing' and closed_at is null`)
  await until(failing, (rows) => rows.length > 0)
  await sql('alter table svc."gone" rename to "__svc.filter_changes"')
  t.match((await doctor(t, database)).found, {
    TASK_FAILS: /failed \d+ times? .*__svc\.filter_changes/,
  })
  await advance(app, 1)
  await until(failing, (rows) => rows.length === 0)
})

t.test('what is stuck, and why', async (t) => {
  const database = await migratedDatabase(t)
  const sql = await sqlOf(t, database)
  const app = await startHost(t, database)
  await app.svc.events.subscribe('order.created', () => {}, { subscription: 'mail' })
  await app.ready()
  await app.close()
  const queue = '__svc.webhooks.deliver'
  const [late, failing, limited, inactive, lost] = [1, 2, 3, 4, 5].map(
    (n) => `00000000-0000-7000-8000-00000000000${n}`,
  ) as [string, string, string, string, string]
  await sql(LATE(queue, late))
  t.strictSame((await doctor(t, database)).found, {
    NO_WORKERS: 'Due for up to 2.0 hours: 1 delivery to webhooks. No live process runs jobs.\n',
  })

  // A host that is alive, as far as its row says, and does nothing.
  const declares = JSON.stringify({
    events: {},
    days: {},
    about: { version: '0.1.0', works: true, options: {} },
  })
  await sql(`insert into svc."__svc.processes" (id, declares, renewed_at)
    values ('00000000-0000-7000-8000-00000000aaaa', '${declares}', now() + interval '1 hour')`)
  for (const webhook of [failing, limited, inactive, lost]) await sql(LATE(queue, webhook))
  await sql(`insert into svc."__svc.recipient_states" (queue, recipient, circuit_open, restricted, held)
    values ('${queue}', '${failing}', true, false, false), ('${queue}', '${limited}', false, true, false),
           ('${queue}', '${inactive}', false, false, true)`)
  await sql(`update svc_jobs.job set state = 'active', started_on = now() - interval '5 minutes',
    group_tier = '00000000-0000-7000-8000-00000000bbbb' where group_id = '${lost}'`)
  await sql(`insert into svc."__svc.work" (id, queue, recipient, what, until, next_at)
    values (gen_random_uuid(), '${queue}', '${late}', 'redrive', now(), now() - interval '3 hours')`)
  await sql(`insert into svc_jobs.job (name, data, start_after, policy)
    values ('__svc.sub/mail', '{}', now() - interval '2 hours', 'standard')`)
  const { codes, found } = await doctor(t, database)
  const others = ['JOBS_LATE', 'JOBS_LOST', 'RECEIVERS_FAIL', 'WEBHOOKS_TOO_SLOW', 'WORK_STUCK']
  t.strictSame(codes.toSorted(), ['NO_HANDLER', ...others].toSorted(), 'none of the inactive one')
  t.match(found, {
    JOBS_LATE: /2\.0 hours: 1 delivery/,
    JOBS_LOST: /for 5 minutes: 1 delivery/,
    RECEIVERS_FAIL: /: 1 delivery .* last attempts/,
    WEBHOOKS_TOO_SLOW: /: 1 delivery .* rate/,
    WORK_STUCK: /3\.0 hours/,
    NO_HANDLER: /the subscription "mail"/,
  })
  await svc(t, ['pause', '--subscription', 'mail'], { DATABASE_URL: database })
  const paused = await doctor(t, database)
  t.notOk(paused.codes.includes('NO_HANDLER'), 'a pause is a fact')
  t.match(paused.facts, { paused: [{ subscription: 'mail' }] })
})

t.test('a due job without a worker, and a process that is silent', async (t) => {
  const database = await migratedDatabase(t)
  const sql = await sqlOf(t, database)
  const app = await startHost(t, database)
  await app.svc.events.subscribe('order.created', () => {}, { subscription: 'mail' })
  await app.ready()
  // The host renews its own lease every six seconds, and a start of the server renews all of them.
  await untilCount(1, () =>
    sql(`select where pg_postmaster_start_time() < now() - interval '25 seconds'`),
  )
  await sql(`with silent as (
      insert into svc."__svc.processes" (id, declares, is_locked, renewed_at)
      select gen_random_uuid(), declares, true, now() - interval '45 seconds'
        from svc."__svc.processes" returning id)
    select pg_advisory_lock_shared(${lockKeyOf('id::text')}) from silent`)
  const { found } = await doctor(t, database)
  t.match(found, { PROCESS_SILENT: /its lease ended \d+ seconds ago/ })

  await app.close()
  await sql('select pg_advisory_unlock_all()')
  await sql(`insert into svc_jobs.job (name, data, start_after, policy)
    values ('__svc.sub/mail', '{}', now() - interval '39 seconds', 'standard')`)
  t.match((await doctor(t, database)).found, {
    NO_WORKERS: /^Due for up to \d+ (seconds|minutes): 1 event for the subscription "mail"/,
  })
})

t.test('packages of different versions in the folder', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-cli-'))
  t.teardown(() => rm(folder, { recursive: true }))
  for (const [name, version] of [
    ['@svc/core', '0.1.0'],
    ['@svc/webhooks', '0.2.0'],
  ] as const) {
    const place = join(folder, 'node_modules', name)
    await mkdir(place, { recursive: true })
    await writeFile(join(place, 'package.json'), JSON.stringify({ name, version }))
  }
  const { found } = await doctor(t, await migratedDatabase(t), {}, { folder })
  t.match(found, { PACKAGES_DIFFER: /@svc\/core 0\.1\.0, @svc\/webhooks 0\.2\.0/ })
})

t.test('doctor and status without a database end with 3, or 2 where none is named', async (t) => {
  for (const verb of ['doctor', 'status']) {
    const nowhere = { DATABASE_URL: 'postgres://u:topsecret@127.0.0.1:1/x' }
    const ran = await svc(t, [verb], nowhere)
    t.equal(ran.exitCode, 3)
    t.notMatch(ran.errors.join(), /topsecret/)
    t.match(await svc(t, [verb]), { exitCode: 2 })
  }
})
