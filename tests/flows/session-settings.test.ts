import type { FastifyInstance } from 'fastify'
import { svcCore } from '@svc/core'
import { useCore } from '@svc/core/internal'
import { advance, drain } from '@svc/testing'
import pg from 'pg'
import t, { type Test } from 'tap'
import { emptyDatabase, freshDatabase } from '../support/fresh-database.ts'
import { receivers, sendOrder, shopHost } from './support/shop-host.ts'
import { queryOn } from '../support/session.ts'
import { until } from '../support/until.ts'
import { newHost } from '../support/new-host.ts'

/** What a role, a database or an application may have set, in the forms that are the furthest from ours. */
const SETTINGS: [name: string, value: string][] = [
  ['datestyle', 'German, DMY'],
  ['datestyle', 'SQL, DMY'],
  ['datestyle', 'Postgres, MDY'],
  ['array_nulls', 'off'],
  ['extra_float_digits', '-15'],
  ['standard_conforming_strings', 'off'],
  ['quote_all_identifiers', 'on'],
  ['transform_null_equals', 'on'],
  ['intervalstyle', 'sql_standard'],
  ['bytea_output', 'escape'],
  ['timezone', 'Asia/Kolkata'],
  ['search_path', 'svc, svc_jobs'],
  ['xmloption', 'document'],
  ['backslash_quote', 'off'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_deferrable', 'on'],
]

async function setOn(database: string, settings: [name: string, value: string][]): Promise<void> {
  const name = pg.escapeIdentifier(new URL(database).pathname.slice(1))
  const set = ([option, value]: [string, string]) => {
    const list = option === 'search_path' ? value : pg.escapeLiteral(value)
    return `alter database ${name} set ${option} = ${list}`
  }
  await queryOn(database, ...settings.map(set))
}

/** In a schema of the host: what our statements name, with other answers. */
const SHADOWS = `
  create schema shadow;
  create function shadow.now() returns timestamptz language sql as $$ select '1999-01-01'::timestamptz $$;
  create function shadow.clock_timestamp() returns timestamptz language sql as $$ select '1999-01-01'::timestamptz $$;
  create function shadow.to_json(timestamptz) returns json language sql as $$ select '"1999-01-01"'::json $$;
  create function shadow.unnest(text[]) returns setof text language sql as $$ select 'shadow' where false $$;
  create function shadow.array_replace(text[], text, text) returns text[] language sql as $$ select '{shadow}'::text[] $$;
  create function shadow.array_position(text[], text) returns int language sql as $$ select 7 $$;
  create function shadow.gen_random_uuid() returns uuid language sql as $$ select '00000000-0000-0000-0000-000000000000'::uuid $$;
  create function shadow.hashtextextended(text, bigint) returns bigint language sql as $$ select 0::bigint $$;
  create function shadow.starts_with(text, text) returns boolean language sql as $$ select true $$;
  create function shadow.strpos(text, text) returns int language sql as $$ select 3 $$;
  create function shadow.lower(text) returns text language sql as $$ select 'shadow' $$;
  create function shadow.never(text, text) returns boolean language sql as $$ select false $$;
  create function shadow.never(uuid, uuid) returns boolean language sql as $$ select false $$;
  create function shadow.never(timestamptz, timestamptz) returns boolean language sql as $$ select false $$;
  create function shadow.nothing(text, text) returns text language sql as $$ select 'shadow' $$;
  create operator shadow.= (leftarg = text, rightarg = text, procedure = shadow.never);
  create operator shadow.= (leftarg = uuid, rightarg = uuid, procedure = shadow.never);
  create operator shadow.<= (leftarg = timestamptz, rightarg = timestamptz, procedure = shadow.never);
  create operator shadow.|| (leftarg = text, rightarg = text, procedure = shadow.nothing)`

async function hostOn(t: Test, database: string): Promise<FastifyInstance> {
  const app = await shopHost(t, database, { core: { worker: { maxAttempts: 1 } } })
  await app.ready()
  return app
}

const isNow = (time: string | null): boolean =>
  Math.abs(Date.now() - Date.parse(`${time}`)) < 300_000

/** Everything once, and the times and counts that come out of it. */
async function round(
  t: Test,
  app: FastifyInstance,
  inTransaction: [string, string][],
): Promise<void> {
  const { auth, events, kv, webhooks } = app.svc
  const { ok, fails } = await receivers(t)
  const user = await auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
  const made = await auth.createApiKey({
    userId: user.id,
    scopes: ['admin'],
    limits: [{ limit: 7, perSeconds: 3600 }],
    quota: { limit: 5, period: 'day' },
  })
  const headers = { 'x-api-key': made.key }
  const answers = []
  for (let n = 0; n < 6; n++) answers.push((await app.inject({ url: '/me', headers })).statusCode)
  t.same(answers, [200, 200, 200, 200, 200, 429])

  const filter = { payload: { n: { $gte: 0 } } }
  const ordinary = await webhooks.register({ url: ok.url, events: ['order.created'], filter })
  const ordered = await webhooks.register({ url: ok.url, events: ['order.created'], ordered: true })
  const failing = await webhooks.register({ url: fails.url, events: ['order.created'] })
  t.ok(isNow(ordinary.createdAt), ordinary.createdAt)

  await events.publish('order.created', { n: 1 })
  const kept = await app.svc.transaction(async (db) => {
    for (const [name, value] of inTransaction) {
      await db.query('select set_config($1, $2, true)', [name, value])
    }
    await events.publish('order.created', { n: 2 }, { db })
    await events.publish('order.created', { n: 3 }, { db, tenant: 'acme' })
    await kv.set('at', { n: 1.5 }, { db })
    const webhook = await webhooks.register({ url: ok.url, events: ['shop.order'] }, { db })
    const second = await auth.createUser({ email: 'c@b.co', name: 'C' }, { db })
    const now: string[] = []
    for (const [name, value] of inTransaction) {
      const { rows } = await db.query(
        `select pg_catalog.current_setting($1) operator(pg_catalog.=) $2 as "isKept"`,
        [name, value],
      )
      now.push(`${name} ${rows[0].isKept}`)
    }
    return { webhook, second, now }
  })
  t.ok(isNow(kept.webhook.createdAt), kept.webhook.createdAt)
  t.ok(isNow(kept.second.createdAt), kept.second.createdAt)
  t.notOk(
    kept.now.some((one) => one.endsWith('false')),
    'the settings of the host are its own',
  )
  t.same(await kv.get('at'), { n: 1.5 })
  for (let n = 0; n < 2; n++) t.equal(await sendOrder(app, { key: 'k' }), 200)

  await ok.waitFor(7)
  await drain(app, { timeoutMs: 60_000 })
  await advance(app, 3600)
  await drain(app, { timeoutMs: 60_000 })
  t.equal(ok.received.length, 7, 'three to two webhooks, and one from the shop')

  const since = new Date(Date.now() - 7_200_000).toISOString()
  const found = await webhooks.listDeliveries({ since, limit: 100 })
  t.equal(found.length, 10, 'seven, and three that failed')
  t.ok(found.every(({ attemptedAt }) => Date.parse(attemptedAt) > Date.now() - 7_500_000))
  t.equal((await webhooks.listDeadLetters({ webhookId: failing.id })).length, 3)
  fails.answer(200)
  t.match(await webhooks.redrive(failing.id), { redriven: 3 })
  await fails.waitFor(6)
  await drain(app, { timeoutMs: 60_000 })

  const usage = await auth.getUsage({ keyId: made.id })
  t.match(usage.totals, { allowed: 5 })
  await (await useCore(app)).underTest.runTasks()
  await until(async () => (await app.svc.health()).ok)
  const stats = await webhooks.stats({ webhookId: ordered.id })
  const delivered = stats.points.reduce((sum, { deliveries }) => sum + deliveries.delivered, 0)
  t.equal(delivered, 3)
  const { rows } = await app.svc.database.query(
    `select relname from pg_class
      where relkind = 'r' and pg_catalog.starts_with(relname, '__svc.webhooks.delivery_log.2')`,
  )
  t.ok(rows.length >= 4)
  t.ok(rows.every(({ relname }) => /\.\d{4}-\d\d-\d\d$/.test(relname)))
  const searched = await events.search({ name: 'order.created', limit: 10 })
  t.equal(searched.items.length, 3)
}

/** One at a time where they exclude one another, the others together. */
const STYLES = SETTINGS.filter(([name]) => name === 'datestyle')
const OTHERS = SETTINGS.filter(([name]) => name !== 'datestyle')
const groups: [string, [string, string][]][] = [
  ...STYLES.map((one): [string, [string, string][]] => [one[1], [one]]),
  ['array_nulls', [['array_nulls', 'off']]],
  ['everything but datestyle', OTHERS],
]

for (const [what, settings] of groups) {
  t.test(`a round where the database has set ${what}`, async (t) => {
    const database = await freshDatabase(t)
    await setOn(database, settings)
    await round(t, await hostOn(t, database), [])
  })
}

t.test('tables are made, and a round runs, where all of these are set at once', async (t) => {
  const database = await emptyDatabase(t)
  await setOn(database, SETTINGS)
  await round(t, await hostOn(t, database), [])
})

for (const [what, settings] of groups) {
  t.test(`a round where a transaction of the host sets ${what}`, async (t) => {
    // A transaction has its isolation level already.
    const within = settings.filter(([name]) => !name.startsWith('default_'))
    await round(t, await hostOn(t, await freshDatabase(t)), within)
  })
}

t.test(
  'tables are made, and a round runs, where a schema of the host comes before that of Postgres',
  async (t) => {
    const database = await emptyDatabase(t)
    await queryOn(database, SHADOWS)
    await setOn(database, [['search_path', 'shadow, pg_catalog, public']])
    await round(t, await hostOn(t, database), [['search_path', 'public']])
  },
)

for (const path of ['shadow, pg_catalog', 'shadow, public']) {
  t.test(
    `a publish in a transaction with the search_path ${path} means what it always does`,
    async (t) => {
      const database = await freshDatabase(t)
      await queryOn(database, SHADOWS)
      const app = await hostOn(t, database)
      const { events, webhooks } = app.svc
      const { ok } = await receivers(t)
      const url = ok.url
      const filter = { payload: { n: { $gte: 2 } } }
      await webhooks.register({ url, events: ['order.created'] })
      await webhooks.register({ url, events: ['order.created'], tenant: 'acme' })
      await webhooks.register({ url, events: ['order.created'], tenant: 'acme', filter })
      await events.publish('order.created', { n: 1 }, { tenant: 'acme' })
      await ok.waitFor(2)
      await app.svc.transaction(async (db) => {
        await db.query(`set local search_path = ${path}`)
        await events.publish('order.created', { n: 1 }, { db, tenant: 'acme' })
        await events.publish('order.created', { n: 2 }, { db, tenant: 'acme' })
        await events.publish('order.created', { n: 3 }, { db, id: 'one' })
        t.match(await events.publish('order.created', { n: 3 }, { db, id: 'one' }), {
          duplicate: true,
        })
      })
      await ok.waitFor(8)
      await drain(app, { timeoutMs: 60_000 })
      t.equal(ok.received.length, 8, 'and two, three and one')
      const found = await events.search({ name: 'order.created', limit: 10 })
      t.equal(found.items.length, 4)
      t.ok(found.items.every(({ publishedAt }) => isNow(publishedAt)))
    },
  )
}

t.test('what else is written in such a transaction is refused, and names the path', async (t) => {
  const database = await freshDatabase(t)
  await queryOn(database, SHADOWS)
  const { svc } = await hostOn(t, database)
  const refused = { code: 'SVC_CORE_INVALID_TRANSACTION', message: /search_path.*pg_catalog first/ }
  await svc.transaction(async (db) => {
    await db.query('set local search_path = shadow, pg_catalog')
    await t.rejects(svc.kv.set('a', 1, { db }), refused)
    await t.rejects(svc.auth.createUser({ email: 'a@b.co', name: 'A' }, { db }), refused)
    await db.query('set local search_path = shadow, public')
    await svc.kv.set('a', 1, { db })
  })
  t.equal(await svc.kv.get('a'), 1)
})

t.test('no character is read as another, whatever encoding a session has', async (t) => {
  const database = await freshDatabase(t)
  const { svc } = await hostOn(t, database)
  await svc.transaction(async (db) => {
    await db.query("set local client_encoding = 'LATIN1'")
    await t.rejects(svc.events.publish('order.created', { name: 'Zoë' }, { db }), {
      code: 'SVC_CORE_INVALID_TRANSACTION',
      message: /client_encoding/,
    })
    await svc.auth.createUser({ email: 'a@b.co', name: 'Zoë' }, { db })
    await svc.kv.set('Zoë', 'Zoë', { db })
    t.match((await db.query('show client_encoding')).rows, [{ client_encoding: 'LATIN1' }])
  })
  t.match(await svc.auth.listUsers(), [{ name: 'Zoë' }])
  t.equal(await svc.kv.get('Zoë'), 'Zoë')
  t.same((await svc.events.search({ limit: 10 })).items, [])
})

t.test(
  'what a host sets for the rest of a session, in a transaction, changes nothing after it',
  async (t) => {
    const database = await freshDatabase(t)
    await queryOn(database, SHADOWS)
    const app = newHost(t)
    await app.register(svcCore, { database: { connectionString: database, max: 2 } })
    await app.ready()
    const { events, kv } = app.svc
    await app.svc.transaction(async (db) => {
      for (const [name, value] of [
        ['datestyle', 'German, DMY'],
        ['array_nulls', 'off'],
        ['client_encoding', 'LATIN1'],
        ['search_path', 'shadow, pg_catalog'],
      ]) {
        await db.query('select set_config($1, $2, false)', [name, value])
      }
    })
    for (let n = 0; n < 3; n++) {
      await events.publish('a', { name: 'Zoë' }, { id: `id ${n}` })
      await kv.set('Zoë', n, { ttlSeconds: 60 })
      t.equal(await kv.get('Zoë'), n)
    }
    const { items } = await events.search({ name: 'a', limit: 10 })
    t.equal(items.length, 3)
    t.ok(items.every(({ publishedAt }) => isNow(publishedAt)))
  },
)
