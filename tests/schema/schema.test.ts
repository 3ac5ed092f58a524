import { readFile, writeFile } from 'node:fs/promises'
import { svcCore } from '@svc/core'
import { useCore } from '@svc/core/internal'
import Fastify from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase, freshDatabase } from '../support/fresh-database.ts'
import { migrateTemplate } from '../support/template.ts'
import { dumpSchemas } from './dump-schema.ts'

const FILE = new URL('schema.sql', import.meta.url)
const HOW_TO_UPDATE =
  'The tables are those of tests/schema/schema.sql. Where they are meant to differ, write it anew with ' +
  '"UPDATE_SCHEMA=1 npx -y pnpm@10 test tests/schema", and commit it with the migration.'

async function connect(t: Test, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  t.teardown(() => client.end())
  await client.connect()
  return client
}

const dump = (client: pg.Client): Promise<string> => dumpSchemas(client, ['svc', 'svc_jobs'])

/** Not in the template: `svc.eraseTenant` of a host without the console would not erase its rows. */
async function migrateConsole(database: string): Promise<void> {
  const app = Fastify({ pluginTimeout: 0 })
  try {
    await app.register(svcCore, { database, worker: { enabled: false } })
    const core = await useCore(app)
    await core.migrate('@svc/console', new URL('../../packages/console/sql/', import.meta.url))
  } finally {
    await app.close()
  }
}

t.test('a host with all plugins makes the tables of schema.sql', async (t) => {
  const database = await emptyDatabase(t)
  await migrateTemplate(database)
  await migrateConsole(database)
  const client = await connect(t, database)
  const { rows } = await client.query('show server_version_num')
  if (Number(rows[0].server_version_num) < 160_000) {
    return t.pass('the file', {
      skip: 'Postgres 15 writes the columns of a view with the name of its table',
    })
  }
  const made = await dump(client)
  if (process.env['UPDATE_SCHEMA']) await writeFile(FILE, made)
  return t.equal(made, await readFile(FILE, 'utf8'), HOW_TO_UPDATE)
})

t.test('no search_path decides what names in our functions mean', async (t) => {
  const database = await freshDatabase(t)
  await migrateConsole(database)
  const client = await connect(t, database)
  const { rows } = await client.query(`
    select proname from pg_proc
     where pronamespace = 'svc'::regnamespace and prosqlbody is null
       and not coalesce(proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'`)
  t.same(
    rows,
    [],
    'functions say "set search_path = pg_catalog, pg_temp", those of one SQL expression "return"',
  )
})

t.test('the dump has no partitions of single days', async (t) => {
  const client = await connect(t, await freshDatabase(t))
  const before = await dump(client)
  await client.query(`
    select svc."__svc.webhooks.make_log_days"(30);
    create table svc_jobs.queue_stats_20010101 partition of svc_jobs.queue_stats
      for values from ('2001-01-01') to ('2001-01-02')`)
  t.equal(await dump(client), before)
})

t.test('each kind of change of the schema shows in the dump', async (t) => {
  const client = await connect(t, await freshDatabase(t))
  const before = await dump(client)
  for (const change of [
    `create table svc.other ()`,
    `create unlogged table svc.other ()`,
    `create view svc.other as select 1`,
    `create sequence svc.other`,
    `alter type svc_jobs.job_state add value 'other'`,
    `alter table svc."__svc.kv" alter value type json`,
    `alter table svc."__svc.kv" alter value drop not null`,
    `alter table svc."__svc.kv" alter value set default '0'`,
    `alter table svc."__svc.kv" alter value set storage external`,
    `alter table svc."__svc.kv" alter key type text collate "default"`,
    `alter table svc."__svc.kv" drop constraint "__svc.kv_pkey"`,
    `alter table svc."__svc.kv" set (fillfactor = 70)`,
    `alter table svc."__svc.kv" set (toast.autovacuum_enabled = off)`,
    `alter table svc."__svc.webhooks.delivery_log.rest" alter event set default ''`,
    `drop index svc."__svc.kv_expires_at_idx"`,
    `alter function svc."__svc.first_uuid" stable`,
    `create or replace function svc_jobs.job_now() returns timestamptz stable language sql return now()`,
    `do $$ begin
       execute format('alter table svc.%I alter event set default '''' ',
         '__svc.webhooks.delivery_log.' || (now() at time zone 'utc')::date);
     end $$`,
  ]) {
    await client.query('begin')
    await client.query(change)
    t.not(await dump(client), before, change)
    await client.query('rollback')
  }
})
