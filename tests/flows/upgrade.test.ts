/**
 * Databases of earlier steps come up to the newest tables with their rows as they were, and work.
 * tests/data/tables-*.sql hold them, with rows in all tables.
 * tests/flows/side-by-side.test.ts has an older version and a newer one at work at once.
 */
import { readFile } from 'node:fs/promises'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { useCore } from '@svc/core/internal'
import { advance, drain, receiver as openReceiver } from '@svc/core/testing'
import { svcWebhooks } from '@svc/webhooks'
import Fastify, { type FastifyInstance } from 'fastify'
import pg from 'pg'
import t, { type Test } from 'tap'
import { dumpSchemas } from '../schema/dump-schema.ts'
import { emptyDatabase } from '../support/fresh-database.ts'

/** The keys of the dumps, of the operator's user and of the tenant acme's. */
const STEPS = [
  {
    file: 'tables-1.sql',
    operatorKey: 'svc_U43HX5BFd4i93tKPqAiyhEoG6w1Bk3M10ZoKED',
    tenantKey: 'svc_VaFSwgfGPlo1HDltqOLvaMGBCatYAzOM2Sg4si',
    revokedKey: 'svc_BRbN7b26s7vo9ogk3aDbHwSRHaTDTghF3ZPcky',
  },
  {
    file: 'tables-2.sql',
    operatorKey: 'svc_I6y5B7BUEFqGl8Df8XZ8NkcYACxHkxJ73KnzbS',
    tenantKey: 'svc_xHonQUhAOozIGgsekOrO5dqMMOzMlVin1Wv4Go',
    revokedKey: 'svc_Si9eqOhnOaBD8v2A7aBvRljjdm2zMLex3dduQo',
  },
]
/** What any host writes at its boot: what it declares. */
const DECLARED = new Set([
  'svc.__svc.processes',
  'svc.__svc.subscriptions',
  'svc_jobs.queue',
  'svc_jobs.version',
])

/** Of what only its id says when it was. */
const KEPT_DAYS = 20_000

/**
 * Loads a dump, with its times set as if it were of a minute ago: nothing in it is too old to keep. The
 * ids of dead letters say when they died, and how long they are kept is no option: they are made anew.
 */
async function loaded(t: Test, file: string): Promise<{ database: string; client: pg.Client }> {
  const database = await emptyDatabase(t)
  const client = new pg.Client(database)
  t.teardown(() => client.end())
  await client.connect()
  await client.query(await readFile(new URL(`../data/${file}`, import.meta.url), 'utf8'))
  await client.query(`
    reset search_path;
    do $$ declare
      age interval;
      target record;
    begin
      select now() - max(applied_at) - interval '1 minute' into age from svc."__svc.migrations";
      set local session_replication_role = replica; -- without triggers
      for target in
        select attrelid::regclass as name,
               string_agg(format('%1$I = %1$I + %2$L', attname, age), ', ') as moved
          from pg_attribute join pg_class on pg_class.oid = attrelid
         where (relnamespace = 'svc'::regnamespace or attrelid = 'svc_jobs.job'::regclass)
           and relkind in ('r', 'p') and not relispartition
           and atttypid = 'timestamptz'::regtype and not attisdropped and attgenerated = ''
         group by 1
      loop
        execute format('update %s set %s', target.name, target.moved);
      end loop;
      update svc_jobs.job set id = overlay(
        id::text placing left(svc."__svc.first_uuid"(created_on)::text, 13) from 1 for 13)::uuid
       where name like '%.dlq';
    end $$`)
  return { database, client }
}

async function startHost(t: Test, database: string, hasWorkers: boolean): Promise<FastifyInstance> {
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(svcCore, {
    database,
    worker: { enabled: hasWorkers },
    auditRetentionDays: KEPT_DAYS,
  })
  const core = await useCore(app)
  await core.migrate('@svc/console', new URL('../../packages/console/sql/', import.meta.url))
  await app.register(svcAuth, { excludePaths: ['/hooks/*'] })
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created', 'order.shipped'],
    allowedNetworks: ['127.0.0.0/8'],
    deliveryLogRetentionDays: KEPT_DAYS,
  })
  app.get('/orders', async (request) => ({ tenant: request.auth?.tenant }))
  await app.svc.events.subscribe('order.created', () => {})
  await app.ready()
  return app
}

/** All rows, by table; in the order of their texts. */
async function rowsOf(client: pg.Client): Promise<Map<string, object[]>> {
  const { rows: tables } = await client.query<{ name: string; table: string }>(
    `select format('%s.%s', relnamespace::regnamespace, relname) as name,
            format('%I.%I', relnamespace::regnamespace::text, relname) as table
       from pg_class
      where relnamespace in ('svc'::regnamespace, 'svc_jobs'::regnamespace)
        and relkind in ('r', 'p') and not relispartition`,
  )
  const all = new Map<string, object[]>()
  for (const { name, table } of tables) {
    const { rows } = await client.query(
      `select to_jsonb(one) as row from ${table} as one order by to_jsonb(one)::text`,
    )
    all.set(
      name.replaceAll('"', ''),
      rows.map(({ row }) => row as object),
    )
  }
  return all
}

/** The functions of a dump of `dumpSchemas`, without empty lines: those of tables-*.sql have none. */
const functionsOf = (dump: string): string[] =>
  dump
    .split(/\n(?=CREATE )/)
    .filter((text) => text.startsWith('CREATE OR REPLACE FUNCTION svc.'))
    .map((text) => text.replaceAll(/\n\s*(?=\n)/g, '').trim())

/** A row, as far as it has what another one had before: a migration may add columns. */
const textOf = (row: object, like: object): string =>
  JSON.stringify(
    Object.keys(like)
      .toSorted()
      .map((name) => (row as Record<string, unknown>)[name]),
  )

for (const { file, operatorKey, tenantKey, revokedKey } of STEPS) {
  t.test(`a database of ${file} comes up with its rows as they were, and works`, async (t) => {
    const { database, client } = await loaded(t, file)
    const before = await rowsOf(client)
    t.ok(before.size > 20)

    const upgrading = await startHost(t, database, false)
    const after = await rowsOf(client)
    for (const [table, rows] of before) {
      if (DECLARED.has(table)) continue
      const [like = {}] = rows
      const kept = new Set(after.get(table)!.map((row) => textOf(row, like)))
      t.strictSame(
        rows.filter((row) => !kept.has(textOf(row, like))),
        [],
        table,
      )
    }
    await upgrading.close()
    const schema = await readFile(new URL('../schema/schema.sql', import.meta.url), 'utf8')
    const newest = functionsOf(schema)
    t.strictSame(
      functionsOf(await dumpSchemas(client, ['svc'])).filter((text) => !newest.includes(text)),
      [],
      'no function is of an earlier step',
    )

    const partner = await openReceiver()
    t.teardown(() => partner.close())
    await client.query(
      `update svc."__svc.webhooks.registrations" set url = $1 where url like '%/ok'`,
      [partner.url],
    )
    const app = await startHost(t, database, true)
    const asked = async (key: string) =>
      app.inject({ url: '/orders', headers: { authorization: `Bearer ${key}` } })
    t.equal((await asked(operatorKey)).json().tenant, null)
    t.equal((await asked(tenantKey)).json().tenant, 'acme')
    t.equal((await asked(revokedKey)).statusCode, 401)

    await advance(app, 1)
    await drain(app)
    const ids = () => partner.received.map(({ body }) => body.payload.id as number)
    t.ok(ids().includes(4) && ids().includes(5), 'what waited is delivered')
    await app.svc.events.publish('order.created', { id: 6, total: 7 }, { tenant: 'acme' })
    await app.svc.transaction((db) => app.svc.events.publish('order.shipped', { id: 7 }, { db }))
    await drain(app)
    t.ok(ids().includes(6) && ids().includes(7), 'what is published now is delivered')
    t.equal((await app.svc.events.redrive('order.created')).redriven, 1)
    const failing = (await app.svc.webhooks.list()).find(({ url }) => url.endsWith('/fails'))
    t.equal(failing?.tenant, 'acme')
    t.ok((await app.svc.audit.list()).length > 5)
  })
}
