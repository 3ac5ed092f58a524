/** A host boots only on tables of pg-boss that its statements were written for. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SvcCoreOptions } from '@svc/core'
import t, { type Test } from 'tap'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { startHost } from '../../support/host.ts'
import { svc } from '../../../support/svc-command.ts'
import { assertTablesAreAsNeeded } from '../../../../packages/core/src/jobs/pg-boss/boss-tables.ts'
import { COLUMNS } from '../../../../packages/core/src/jobs/pg-boss/contract.ts'
import { sessionOn } from '../../../support/session.ts'

const PACKAGES = join(import.meta.dirname, '../../../../packages')
const OF_FETCHES = `(name, priority desc, created_on, start_after) where state < 'active' and not blocked`

/** What is done to the tables, and what the refusal says of it. */
const differences: [what: string, done: string, says: RegExp][] = [
  [
    'a column that is missing',
    'alter table svc_jobs.job rename group_tier to tier',
    /svc_jobs\.job has no column "group_tier" \(the process that has claimed the job\)/,
  ],
  [
    'a column of the queues that is missing',
    'alter table svc_jobs.queue drop column queued_count',
    /svc_jobs\.queue has no column "queued_count"/,
  ],
  [
    'a column of another type',
    'alter table svc_jobs.job alter column group_id type varchar(80)',
    /the column "group_id" of svc_jobs\.job is varchar and not text/,
  ],
  [
    'a number that is a larger one',
    'alter table svc_jobs.job alter column retry_count type bigint',
    /the column "retry_count" of svc_jobs\.job is int8 and not int4/,
  ],
  [
    'a default that inserts rely on',
    'alter table svc_jobs.job alter column priority set default 5',
    /"priority" of svc_jobs\.job has the default 5 and not 0/,
  ],
  [
    'a new column that every insert has to fill',
    `alter table svc_jobs.job add column region text not null default 'x';
     alter table svc_jobs.job alter column region drop default`,
    /the column "region" of svc_jobs\.job needs a value/,
  ],
  [
    'another order of the states',
    `update pg_enum set enumsortorder = 99
      where enumtypid = 'svc_jobs.job_state'::regtype and enumlabel = 'retry'`,
    /the states are created, active, completed, cancelled, failed, retry, and not created, retry, active/,
  ],
  [
    'a state before that of a running job',
    `alter type svc_jobs.job_state add value 'reserved' before 'active'`,
    /the states are created, retry, reserved, active/,
  ],
  [
    'a state of another name',
    `alter type svc_jobs.job_state rename value 'retry' to 'again'`,
    /the states are created, again, active/,
  ],
  [
    'the index of the fetches is missing',
    'drop index svc_jobs.job_common_i11',
    /svc_jobs\.job_common has no index USING btree \(name, priority DESC, .*: create index on svc_jobs\.job_common USING btree \(name, priority DESC/,
  ],
  [
    'the index of the fetches is missing where the deliveries are',
    `do $$ begin
       execute format('drop index svc_jobs.%I', (select table_name || '_i11' from svc_jobs.queue
                                                  where name = '__svc.webhooks.deliver'));
     end $$`,
    /svc_jobs\.j\w+ has no index USING btree \(name, priority DESC/,
  ],
  [
    'the index of the fetches in another order',
    `drop index svc_jobs.job_common_i11;
     create index job_common_i11 on svc_jobs.job_common
       (name, priority, created_on, start_after) where state < 'active' and not blocked`,
    /svc_jobs\.job_common has no index USING btree \(name, priority DESC/,
  ],
  [
    'the index of the fetches with another condition',
    `drop index svc_jobs.job_common_i11;
     create index job_common_i11 on svc_jobs.job_common
       (name, priority desc, created_on, start_after) where state < 'active'`,
    /svc_jobs\.job_common has no index USING btree \(name, priority DESC/,
  ],
  [
    'the index of the fetches is not valid',
    `update pg_index set indisvalid = false where indexrelid = 'svc_jobs.job_common_i11'::regclass`,
    /svc_jobs\.job_common has no index USING btree \(name, priority DESC/,
  ],
  [
    'the index of active jobs is missing',
    'drop index svc_jobs.job_common_i7',
    /svc_jobs\.job_common has no index USING btree \(name, group_id\)/,
  ],
  [
    'no key',
    'alter table svc_jobs.job drop constraint job_pkey',
    /svc_jobs\.job_common has no index UNIQUE USING btree \(name, id\)/,
  ],
  [
    'an index of ours with another definition',
    `drop index svc_jobs.svc_waiting_job_common;
     create index svc_waiting_job_common on svc_jobs.job_common (singleton_key)`,
    /index svc_jobs\.svc_waiting_job_common is USING btree \(singleton_key\) and not .*: drop index svc_jobs\.svc_waiting_job_common/,
  ],
  [
    'an index of dead letters that is not valid',
    `update pg_index set indisvalid = false where indexrelid = 'svc_jobs.svc_dead_letters'::regclass`,
    /index svc_jobs\.svc_dead_letters is not valid: drop index svc_jobs\.svc_dead_letters/,
  ],
]

/** Also hosts that publish alone, and those that make no tables. */
const hosts: SvcCoreOptions[] = [{}, { worker: { enabled: false } }, { migrate: 'check' }]

for (const [place, [what, done, says]] of differences.entries()) {
  t.test(`${what}: the host does not boot, and says what differs`, async (t) => {
    const { database, client } = await databaseOf(t)
    await client.query(done)
    const core = hosts[place % hosts.length]!
    const refusal = { code: 'SVC_CORE_JOBS_SCHEMA_DIFFERS', message: says }
    await t.rejects(startHost(t, { database, core }), refusal)
  })
}

t.test('the refusal names all that differs, the version of pg-boss and the ways out', async (t) => {
  const { database, client } = await databaseOf(t)
  await client.query(`alter table svc_jobs.job rename group_tier to tier;
    alter table svc_jobs.job rename blocked to waits`)
  const message =
    /pg-boss 12\.35\.0,.*: [^;]*no column "group_tier" [^;]*; [^;]*no column "blocked" [^;]*undo.*restore.*deploy/
  for (const core of hosts) await t.rejects(startHost(t, { database, core }), { message })
  for (const options of [[], ['--check']]) {
    const { exitCode, errors } = await svc(t, ['migrate', ...options], { DATABASE_URL: database })
    t.equal(exitCode, 1)
    t.match(errors.join(), message)
    t.match(errors.join(), /SVC_CORE_JOBS_SCHEMA_DIFFERS/)
  }
})

t.test('in another schema the refusal names that one', async (t) => {
  const { database, client } = await databaseOf(t)
  const start = () => startHost(t, { database, core: { schema: 'shop' } })
  await start()
  await client.query('alter table shop_jobs.job rename group_tier to tier')
  const refusal = await start().then(
    () => 'it boots',
    (error: Error) => error.message,
  )
  t.match(refusal, /shop_jobs\.job has no column "group_tier".*restore the schema shop_jobs/)
  t.notMatch(refusal, /svc_jobs/)
})

t.test('what the refusal says makes the host boot', async (t) => {
  const { database, client } = await databaseOf(t)
  await client.query(`drop index svc_jobs.job_common_i7, svc_jobs.svc_ordered_job_common;
    create index svc_ordered_job_common on svc_jobs.job_common (id);
    alter table svc_jobs.job drop constraint job_pkey`)
  const refusal = await startHost(t, { database }).then(
    () => 'it boots',
    (error: Error) => error.message,
  )
  const statements = refusal.match(/(create (unique )?index on [^;]+\)|drop index [\w.]+)/g)
  for (const statement of statements ?? []) await client.query(statement)
  await startHost(t, { database })
})

t.test('what no plan of ours depends on may differ', async (t) => {
  const { database, client } = await databaseOf(t)
  await client.query(`
    drop index svc_jobs.job_common_i11;
    create index of_fetches on svc_jobs.job_common ${OF_FETCHES};
    alter index svc_jobs.svc_waiting_job_common set (fillfactor = 70);
    alter table svc_jobs.job add column later text;
    alter table svc_jobs.job add column counted int not null default 0;
    alter type svc_jobs.job_state add value 'forgotten' after 'failed';
    drop index svc_jobs.job_common_i9;
    alter database ${client.database} set search_path = svc_jobs, public`)
  for (const migrate of ['boot', 'check'] as const)
    await startHost(t, { database, core: { migrate } })
})

t.test('a queue of the host whose table it has changed is its own', async (t) => {
  const { database, client } = await databaseOf(t)
  const { app } = await startHost(t, { database })
  await app.svc.jobs.createQueue('mine', { partition: true })
  await client.query(`do $$ begin
    execute format('drop index svc_jobs.%I',
                   (select table_name || '_i11' from svc_jobs.queue where name = 'mine'));
  end $$`)
  await startHost(t, { database })
})

t.test('no statement names a column that the boot does not check', async (t) => {
  const { client } = await databaseOf(t)
  const { rows } = await client.query(
    `select attname as name from pg_attribute
      where attrelid = 'svc_jobs.job'::regclass and attnum > 0 and not attisdropped`,
  )
  const unchecked = (rows as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !(name in COLUMNS.job))
  t.ok(unchecked.includes('singleton_on'), 'there are some')
  const texts = ['core/src/jobs/pg-boss/*.ts', 'core/sql/*.sql']
    .flatMap((files) => globSync(files, { cwd: PACKAGES }))
    .map((file) => readFileSync(join(PACKAGES, file), 'utf8'))
  for (const name of unchecked) {
    t.notOk(
      texts.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
      name,
    )
  }
})

t.test('tables are read again where another process replaces an index meanwhile', async (t) => {
  const { core } = await startHost(t)
  const failing = (times: number, code: string) => ({
    query: async (text: string) => {
      if (times-- > 0) throw Object.assign(new Error('cache lookup failed'), { code })
      return core.db.query(text)
    },
  })
  await assertTablesAreAsNeeded(failing(5, 'XX000'))
  await t.rejects(assertTablesAreAsNeeded(failing(6, 'XX000')), { code: 'XX000' })
  await t.rejects(assertTablesAreAsNeeded(failing(1, '57014')), { code: '57014' })
})

t.test("statements on pg-boss's tables stand in one folder, or are functions of core", (t) => {
  const files = globSync(['*/src/**/*.ts', '{auth,console,webhooks}/sql/*.sql'], { cwd: PACKAGES })
  const naming = files.filter((file) =>
    /\bsvc_jobs\.(\w+|%I)|\bsingleton_key\b|\bgroup_tier\b/.test(withoutComments(file)),
  )
  t.strictSame(
    naming.filter((file) => !file.startsWith('core/src/jobs/pg-boss/')),
    [],
  )
  t.end()
})

const withoutComments = (file: string): string =>
  readFileSync(join(PACKAGES, file), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)(\/\/|--).*/g, '')

async function databaseOf(t: Test) {
  const database = await freshDatabase(t)
  const client = await sessionOn(t, database)
  return { database, client }
}
