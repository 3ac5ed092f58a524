/** Two applications in one database, each with all plugins in a schema of its own. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { SvcCoreOptions } from '@svc/core'
import { advance, drain, type Receiver } from '@svc/testing'
import { headerToken } from '@svc/webhooks'
import t, { type Test } from 'tap'
import { startHost, type Host } from '../console/support/host.ts'
import { startChild } from '../core/support/child.ts'
import { everyRow } from '../support/every-row.ts'
import { emptyDatabase } from '../support/fresh-database.ts'
import { until } from '../support/until.ts'
import { receivers } from './support/shop-host.ts'
import { sessionOn } from '../support/session.ts'

const SECRETS: Record<string, string> = {
  BOOTSTRAP_KEY: 'the-bootstrap-key-of-tests',
  SHOP: 'token-of-shop',
  SEALS: Buffer.alloc(32, 7).toString('base64'),
}

interface Application extends Host {
  log: Record<string, unknown>[]
}

async function startApplication(
  t: Test,
  database: string,
  core: SvcCoreOptions,
): Promise<Application> {
  const log: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void log.push(JSON.parse(line)) }
  const host = await startHost(t, {
    database,
    fastify: { logger: { level: 'warn', stream } },
    core: {
      secrets: (name: string) => SECRETS[name] ?? null,
      encryption: { secretNames: ['SEALS'] },
      ...core,
      worker: { retryDelaySeconds: 3600, ...core.worker },
    },
    auth: { excludePaths: ['/hooks/shop'], tenantLimits: [{ limit: 1000, perSeconds: 3600 }] },
    webhooks: {
      inboundLog: { keepDays: 7, rawBodies: true },
      inbound: {
        shop: {
          path: '/hooks/shop',
          publishAs: 'order.shipped',
          verify: headerToken({ header: 'x-token', secretName: 'SHOP' }),
          tenant: () => 'acme',
          deduplicationKey: (_request, body) => body,
        },
      },
    },
    before: (app) => void app.get('/me', async (request) => request.auth),
  })
  return { ...host, log }
}

/** Whatever writes, on our connections and in transactions of the host. */
async function live(
  t: Test,
  { app, database, signIn, follow }: Host,
  { ok, fails }: Record<'ok' | 'fails', Receiver>,
  tenant: string,
): Promise<void> {
  const { auth, events, kv, webhooks } = app.svc
  const handled: unknown[] = []
  await events.subscribe('order.created', (order) => handled.push(order), {
    // As a name of what is substituted: it is data.
    subscription: `svc_jobs.${tenant}`,
  })
  const user = await auth.createUser({ email: `a@${tenant}.example`, name: 'Ada', tenant })
  const made = await auth.createApiKey({
    userId: user.id,
    scopes: ['admin'],
    limits: [{ limit: 100, perSeconds: 3600 }],
    quota: { limit: 100, period: 'total' },
  })
  const { key } = await auth.rotateApiKey({ id: made.id })
  for (const one of [key, key, 'svc_unknown']) {
    await app.inject({ url: '/me', headers: { 'x-api-key': one } })
  }
  const ask = (url: string, payload?: object) =>
    app.inject({
      method: payload ? 'POST' : 'GET',
      url,
      headers: { authorization: `Bearer ${SECRETS['BOOTSTRAP_KEY']}` },
      ...(payload ? { payload } : {}),
    })
  await ask('/auth/keys?search=svc')
  await ask('/webhooks?search=svc')

  const of = { tenant, events: ['*'] }
  const plain = await webhooks.register({
    ...of,
    url: ok.url,
    filter: { 'payload.at': { $gt: 1 } },
  })
  const ordered = await webhooks.register({ ...of, url: ok.url, ordered: true })
  const slow = await webhooks.register({ ...of, url: fails.url, maxInFlight: 2 })
  const dying = await webhooks.register({ ...of, url: fails.url, retry: { maxAttempts: 1 } })
  await webhooks.update({ id: slow.id, rateLimit: { limit: 50, perSeconds: 1 } })
  await webhooks.rotateSecret({ id: plain.id })
  await events.publish('order.created', { at: 1 }, { tenant })
  await events.publish(
    'order.created',
    { at: 2, text: `svc."__svc.kv" 'svc' 7763001` },
    { tenant, id: 'two' },
  )
  await events.publish('order.created', { at: 2 }, { tenant, id: 'two' })
  for (const payload of ['{"n":1}', '{"n":1}', '{"n":2}']) {
    const headers = { 'x-token': SECRETS['SHOP'], 'content-type': 'application/json' }
    await app.inject({ method: 'POST', url: '/hooks/shop', headers, payload })
  }
  await drain(app, { timeoutMs: 60_000 })

  // In transactions of the host: of svc.transaction, and on a client of its own.
  const write = async (
    db: { query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> },
    n: number,
  ) => {
    const { rows } = await db.query(`select 'svc' as mine, 'svc_jobs' as jobs, 7763001 as number`)
    t.same(
      rows,
      [{ mine: 'svc', jobs: 'svc_jobs', number: 7763001 }],
      'statements of the host stay',
    )
    await events.publish('order.created', { at: 3, n }, { db, tenant })
    const other = await auth.createUser(
      { email: `${n}@${tenant}.example`, name: 'B', tenant },
      { db },
    )
    const { id } = await auth.createApiKey({ userId: other.id, scopes: [] }, { db })
    await auth.updateApiKey({ id, label: 'l' }, { db })
    const replaced = await auth.rotateApiKey({ id }, { db })
    await auth.revokeApiKey(replaced.id, { db })
    await auth.deleteUser(other.id, { db })
    const hook = await webhooks.register({ ...of, url: ok.url }, { db })
    await webhooks.update({ id: hook.id, active: false }, { db })
    await webhooks.rotateSecret({ id: hook.id }, { db })
    await webhooks.delete(hook.id, { db })
    await webhooks.test(plain.id, { db })
    const since = new Date(Date.now() - 3_600_000).toISOString()
    await webhooks.recover({ id: plain.id, since, what: 'failed' }, { db })
    await kv.set(`k${n}`, n, { db })
    await kv.increment(`n${n}`, { db })
    await kv.setIfAbsent(`k${n}`, 0, { db })
    t.equal(await kv.get(`k${n}`, { db }), n)
    await kv.delete(`k${n}`, { db })
  }
  await app.svc.transaction((db) => write(db, 1))
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  await client.query('begin')
  await write(client, 2)
  await client.query('commit')
  await client.end()
  // Runs the periodic tasks: of a commit that the process does not see a recovery begins with one.
  await advance(app, 1)
  await drain(app, { timeoutMs: 60_000 })
  t.equal(handled.length, 4)

  const [attempt] = await webhooks.listDeliveries(plain.id)
  await webhooks.redeliver({ webhookId: plain.id, deliveryId: attempt!.deliveryId })
  await webhooks.redrive(dying.id)
  const since = new Date(Date.now() - 3_600_000).toISOString()
  for (const what of ['dead', 'failed', 'missing'] as const) {
    await webhooks.recover({ id: ordered.id, since, what, perSecond: 100 })
  }
  const event = { event: 'order.created', payload: { at: 5 }, attempt: 1 }
  await webhooks.deliver({ webhookId: plain.id, ...event, deliveryId: randomUUID() })
  await drain(app, { timeoutMs: 60_000 })
  await advance(app, 4000)
  await drain(app, { timeoutMs: 60_000 })
  await webhooks.tryFilter({ tenant, filter: { 'payload.at': 2 }, events: ['order.created'] })
  await webhooks.stats({})
  await webhooks.listDeadLetters()
  await webhooks.listInbound()
  await webhooks.listTenants()
  await auth.listTenants()
  await auth.getUsage({ tenant })
  await events.search({})
  await events.deadLetters(`svc_jobs.${tenant}`)
  await app.svc.audit.list({ tenant })
  await app.svc.health()
  await app.svc.reencrypt()

  const operator = await signIn(key)
  t.equal((await operator.session()).status, 200)
  const link = await app.svc.console.portalLink({ tenant })
  const page = await follow(link)
  t.equal((await page.call('webhooks.list')).status, 200)
  await app.svc.console.endSessions({ tenant })
  t.equal((await page.call('webhooks.list')).status, 401)
  await page.end()
  await events.unsubscribe(`svc_jobs.${tenant}`)
}

/** Every row of the tables of a schema and of its jobs. */
async function rowsOf(database: string, schema: string): Promise<string[]> {
  const tables = [`${schema}.`, `"${schema}".`, `${schema}_jobs.`]
  return (await everyRow(database))
    .filter(({ table }) => tables.some((begin) => table.startsWith(begin)))
    .map(({ table, text }) => `${table} ${text}`)
    .toSorted()
}

const me = async ({ app }: Host, key: string): Promise<number> =>
  (await app.inject({ url: '/me', headers: { 'x-api-key': key } })).statusCode

t.test('what one application does changes no row of the other', async (t) => {
  const database = await emptyDatabase(t)
  // A reserved word of SQL.
  const other = { schema: 'user', application: 'crm' }
  const applications: [SvcCoreOptions, string, string][] = [
    [{ application: 'shop' }, 'svc', 'user'],
    [other, 'user', 'svc'],
    [{ application: 'shop' }, 'svc', 'user'],
  ]
  for (const [turn, [core, own, others]] of applications.entries()) {
    const before = await rowsOf(database, others)
    const application = await startApplication(t, database, core)
    t.same(application.log, [], 'it finds no other application in its tables')
    const hooks = await receivers(t)
    await live(t, application, hooks, ['acme', 'acme', 'globex'][turn]!)
    t.ok(hooks.ok.received.length > 5)
    if (turn === 2) {
      const erased = await application.app.svc.eraseTenant('acme')
      t.match(erased, { users: 1, webhooks: 4 })
      const tenants = await application.app.svc.webhooks.listTenants()
      t.same(
        tenants.map(({ tenant }) => tenant),
        ['globex'],
      )
    }
    await application.app.close()
    t.ok((await rowsOf(database, own)).length > 100)
    t.same(await rowsOf(database, others), before, `turn ${turn} of ${own}`)
  }
  t.ok((await rowsOf(database, 'user')).length > 100)

  const [first, second] = [
    await startApplication(t, database, { application: 'shop' }),
    await startApplication(t, database, other),
  ]
  t.equal((await second.app.svc.webhooks.list({ tenant: 'acme' })).length, 4)
  const { key } = await second.keyOf(['admin'])
  t.same([await me(first, key), await me(second, key)], [401, 200], 'keys are of one application')
  await first.app.close()
  await second.app.svc.events.publish('order.created', { at: 9 }, { tenant: 'acme' })
  await drain(second.app, { timeoutMs: 60_000 })
  t.equal(await me(second, key), 200, 'the other goes on where one has closed')
})

t.test('jobs and notifications of one application do not reach the other', async (t) => {
  const database = await emptyDatabase(t)
  const { ok } = await receivers(t)
  const idle = { worker: { enabled: false } }
  const publisher = await startApplication(t, database, { schema: 'shop', ...idle })
  const worker = await startApplication(t, database, {})
  const client = await sessionOn(t, database)
  const heard: string[] = []
  client.on('notification', ({ channel }) => heard.push(channel))
  for (const name of [
    'wake',
    'recipients',
    'restricted',
    'lock',
    'console.changes',
    'console.ended',
  ]) {
    await client.query(`listen "svc.${name}"`)
    await client.query(`listen "shop.${name}"`)
  }
  await client.query('listen "__svc.auth.keys_changed"')
  await client.query('listen "__shop.auth.keys_changed"')

  await publisher.app.svc.webhooks.register({ url: ok.url, events: ['*'] })
  await worker.app.svc.webhooks.register({ url: ok.url, events: ['*'] })
  await publisher.app.svc.events.publish('order.created', { of: 'shop' })
  await publisher.app.svc.auth.revokeApiKey((await publisher.keyOf([])).id)
  await until(() => heard.includes('shop.wake') && heard.includes('__shop.auth.keys_changed'))
  await drain(worker.app)
  await advance(worker.app, 60)
  await drain(worker.app)
  t.equal(ok.received.length, 0, 'the workers of the other take no job')
  heard.length = 0
  await worker.app.svc.events.publish('order.created', { of: 'svc' })
  await drain(worker.app)
  await worker.app.svc.auth.revokeApiKey((await worker.keyOf([])).id)
  await until(() => heard.includes('__svc.auth.keys_changed'))
  t.same(
    heard.filter((channel) => channel.includes('shop')),
    [],
  )
  t.match(
    ok.received.map(({ body }) => body.payload),
    [{ of: 'svc' }],
  )

  const taker = await startApplication(t, database, { schema: 'shop' })
  await drain(taker.app)
  t.match(
    ok.received.map(({ body }) => body.payload.of),
    ['svc', 'shop'],
  )
})

t.test('a process of one application that was killed is a matter of that one', async (t) => {
  const database = await emptyDatabase(t)
  const core = { schema: 'shop', worker: { enabled: false } }
  const shop = await startApplication(t, database, core)
  const other = await startApplication(t, database, {})
  const seen: unknown[] = []
  const handle =
    (of: string) =>
    (_payload: unknown, { attempt }: { attempt: number }) =>
      void seen.push(`${of} ${attempt}`)
  await other.app.svc.events.subscribe('work', handle('svc'))
  const killed = startChild(t, 'worker-child.ts', database, '', '', 'shop')
  await until(() => killed.lines.includes('ready'))
  await shop.app.svc.events.publish('work', { n: 1, ms: 3_600_000 })
  await until(() => killed.lines.includes('start 1 1'))
  const before = await rowsOf(database, 'svc')
  killed.kill('SIGKILL')
  await killed.exited
  const worker = await startApplication(t, database, { schema: 'shop' })
  await worker.app.svc.events.subscribe('work', handle('shop'))
  await until(() => seen.length > 0)
  t.same(seen, ['shop 2'])
  await until(() => worker.log.some(({ msg }) => String(msg).startsWith('a process died')))
  t.same(other.log, [])
  // What a living process renews, and what pg-boss counts.
  const ofLiving = (row: string) => /"__svc\.processes"|_jobs\.(queue|version)/.test(row)
  t.same(
    (await rowsOf(database, 'svc')).filter((row) => !ofLiving(row)),
    before.filter((row) => !ofLiving(row)),
  )
})

/** Names of the default schema in a statement, and of what is shared in a database. */
const FOREIGN =
  /(?<![\w"])svc\.["%]|\bsvc_jobs\b|'svc'|\bschema svc\b|pg_notify\('(__)?svc\.|listen "(__)?svc\.|\b7763\d{3}\b/

t.test('no statement and no function of another schema names the default one', async (t) => {
  const database = await emptyDatabase(t)
  const texts = new Set<string>()
  const values: unknown[] = []
  // oxlint-disable-next-line typescript/no-explicit-any -- as pg has it
  const prototype = pg.Client.prototype as any
  const { query } = prototype
  prototype.query = function (this: unknown, ...given: [string | { text: string; values?: [] }]) {
    const [statement] = given
    texts.add(typeof statement === 'string' ? statement : statement.text)
    if (typeof statement !== 'string') values.push(...(statement.values ?? []))
    return query.apply(this, given)
  }
  t.teardown(() => (prototype.query = query))
  const host = await startApplication(t, database, { schema: 'shop' })
  await live(t, host, await receivers(t), 'acme')
  await host.app.svc.eraseTenant('acme')
  await host.app.close()
  const ofHost = (text: string) => text.startsWith(`select 'svc' as mine`)
  const named = [...texts].filter((text) => !ofHost(text))
  t.ok(named.length > 200, `${named.length} statements`)
  t.same(
    named.filter((text) => FOREIGN.test(text.replaceAll(/__svc\.sub\/[\w.]+/g, ''))),
    [],
  )
  t.notOk(
    values.some((value) =>
      /^(__)?svc\.(wake|recipients|restricted|lock|console)/.test(String(value)),
    ),
  )

  prototype.query = query
  const client = await sessionOn(t, database)
  const { rows: bodies } = await client.query<{ text: string }>(
    `select pg_get_functiondef(oid) as text from pg_proc
      where pronamespace in ('shop'::regnamespace, 'shop_jobs'::regnamespace)
     union all select indexdef from pg_indexes where schemaname in ('shop', 'shop_jobs')`,
  )
  t.ok(bodies.length > 60)
  t.same(
    bodies.filter(({ text }) => FOREIGN.test(text)),
    [],
  )
  const { rows: schemas } = await client.query(
    `select nspname from pg_namespace where nspname !~ '^pg_|^information_schema$' order by 1`,
  )
  t.same(
    schemas.map(({ nspname }) => nspname),
    ['public', 'shop', 'shop_jobs'],
  )
})

t.test('two hosts on one pool have a schema each', async (t) => {
  const database = await emptyDatabase(t)
  const pool = new pg.Pool({ connectionString: database, max: 4 })
  t.teardown(() => pool.end())
  const hosts = []
  for (const schema of ['svc', 'shop']) {
    hosts.push(await startApplication(t, database, { database: pool, schema }))
  }
  for (const [n, { app }] of hosts.entries()) {
    for (let id = 0; id < 20; id++)
      await app.svc.events.publish('order.created', { n }, { id: `${id}` })
    t.same((await app.svc.events.search({})).items.length, 20)
    await app.close()
  }
})
