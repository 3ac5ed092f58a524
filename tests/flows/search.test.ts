// promise: `?search=` on users, keys, tenants and webhooks: beginnings of words of their names, without case and accents, along an index
/** Search by name: what is found, what is refused, who finds what, and what it costs. */
import type { SvcCoreOptions } from '@svc/core'
import pg from 'pg'
import t, { type Test } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { explainingPool, nodesOf } from '../support/query-plans.ts'
import { queryOn } from '../support/session.ts'
import { wholeHost } from '../support/whole-host.ts'

const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'

async function startHost(t: Test, database: SvcCoreOptions['database']) {
  const app = await wholeHost(
    t,
    {
      database,
      worker: { enabled: false },
      secrets: () => BOOTSTRAP_KEY,
    },
    { auth: { bootstrapKeySecret: 'BOOTSTRAP_KEY' } },
  )
  await app.ready()
  const ask = async (path: string, key = BOOTSTRAP_KEY) => {
    const answer = await app.inject({ url: path, headers: { 'x-api-key': key } })
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers }
  }
  /** What a list finds, by the field that names it. */
  const found = async (list: string, search: string, field: string, key?: string) => {
    const { status, body } = await ask(`${list}?search=${encodeURIComponent(search)}`, key)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body.map((row: Record<string, unknown>) => row[field]).sort()
  }
  return { app, ask, found, svc: app.svc }
}

/** A pool on which each statement that looks for a common word takes long. */
function slowPool(t: Test, connectionString: string) {
  const slow = { byMs: 1600 }
  class SlowClient extends pg.Client {
    override query(...given: [never]): never {
      const { text = '' } = given[0] as { text?: string }
      const run = (): never => super.query<never>(...given)
      return text.includes('"isEnd"') ? (setTimeout(run, slow.byMs) as never) : run()
    }
  }
  const pool = new pg.Pool({ connectionString, max: 5, Client: SlowClient })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  return Object.assign(slow, { pool })
}

t.test('words are found by how they begin, whatever their case and accents', async (t) => {
  const { svc, found } = await startHost(t, await freshDatabase(t))
  const users: [name: string, email: string][] = [
    ['Ana Beltrán', 'ana.beltran@acme.example'],
    ['Łukasz Straße', 'l.strasse@globex.example'],
    ['Οδυσσέας', 'odysseas@acme.example'],
    ["Zoë O'Neill-Smith", 'zoe_2@globex.example'],
    ['İpek Yılmaz', 'ipek@initech.example'],
    ['ｆｕｌｌ １２３', 'full@initech.example'],
    ['مُحَمَّد', 'm@initech.example'],
    ['グーグル ガス', 'g@initech.example'],
    ['हिन्दी', 'h@initech.example'],
    [`${'x'.repeat(150)} end`, 'long@initech.example'],
  ]
  for (const [name, email] of users) await svc.auth.createUser({ name, email })
  const finds = async (search: string, ...names: string[]) =>
    t.same(await found('/_auth/users', search, 'name'), names.sort(), search)

  await finds('ana', 'Ana Beltrán')
  await finds('BELTRAN an', 'Ana Beltrán')
  await finds('beltra\u0301n', 'Ana Beltrán')
  await finds('eltran')
  await finds('ana strasse')
  await finds('acme', 'Ana Beltrán', 'Οδυσσέας')
  await finds('strass lukasz', 'Łukasz Straße')
  await finds('STRASSE', 'Łukasz Straße')
  await finds('οδυσσεασ', 'Οδυσσέας')
  await finds('ΟΔΥΣΣΕΑΣ', 'Οδυσσέας')
  await finds("o'neill", "Zoë O'Neill-Smith")
  await finds('smith zoe', "Zoë O'Neill-Smith")
  await finds('zoe_2@globex.example', "Zoë O'Neill-Smith")
  await finds('2', "Zoë O'Neill-Smith")
  await finds('ipek yilmaz', 'İpek Yılmaz')
  await finds('IPEK YILMAZ', 'İpek Yılmaz')
  await finds('full 12', 'ｆｕｌｌ １２３')
  await finds('محمد', 'مُحَمَّد')
  await finds('STRAẞE', 'Łukasz Straße')
  await finds('グー', 'グーグル ガス')
  await finds('ル')
  await finds('カス')
  await finds('हिन्', 'हिन्दी')
  await finds('न')
  await finds(`${'X'.repeat(120)} en`, `${'x'.repeat(150)} end`)
  await finds("':* & | ! <-> \\ ( x", `${'x'.repeat(150)} end`)
})

t.test('keys, tenants and webhooks are found by their names as well', async (t) => {
  const { svc, found, ask } = await startHost(t, await freshDatabase(t))
  const of = async (tenant: string | null, email: string) =>
    svc.auth.createUser({ name: 'Somebody', email, tenant })
  const acme = await of('acme_eu:north', 'ada@acme.example')
  const globex = await of('Globex', 'bea@globex.example')
  await of(null, 'root@example.com')
  await of('gone', 'gone@example.com').then(({ id }) => svc.auth.deleteUser(id))
  const { key } = await svc.auth.createApiKey({
    userId: acme.id,
    label: 'Müller billing',
    scopes: ['admin'],
  })
  await svc.auth.createApiKey({ userId: globex.id, label: 'Billing of Globex', scopes: [] })
  await svc.auth.createApiKey({ userId: globex.id, scopes: [] })
  const register = (tenant: string | null, label: string | null, url: string | null) =>
    svc.webhooks.register({ events: '*', tenant, label, url })
  await register('acme_eu:north', 'Ångström', 'https://hooks.acme.example/a-1')
  await register('Globex', null, 'https://receiver.example/v2/' + 'y'.repeat(1500) + '?q=tail')
  await register(null, 'Only read', null)

  t.same(await found('/_auth/keys', 'bill', 'label'), ['Billing of Globex', 'Müller billing'])
  t.same(await found('/_auth/keys', 'muller bil', 'label'), ['Müller billing'])
  t.same(
    await found('/_auth/keys', 'bea@globex', 'label'),
    ['Billing of Globex', null],
    'by its user',
  )
  t.same(await found('/_auth/tenants', 'north', 'tenant'), ['acme_eu:north'])
  t.same(await found('/_auth/tenants', 'EU acm', 'tenant'), ['acme_eu:north'])
  t.same(await found('/_auth/tenants', 'g', 'tenant'), ['Globex'], 'none that has no user any more')
  t.same(await found('/_webhooks', 'angstrom', 'label'), ['Ångström'])
  t.same(await found('/_webhooks', 'a acme hooks', 'label'), ['Ångström'])
  t.same(await found('/_webhooks', 'tail receiver', 'label'), [null])
  t.same(await found('/_webhooks', 'only', 'url'), [null])
  t.match(await svc.webhooks.listTenants({ search: 'glob' }), [{ tenant: 'Globex', webhooks: 1 }])
  t.same(await svc.webhooks.count({ search: 'https' }), { count: 2 })

  t.same(
    await found('/_auth/users', 'somebody', 'tenant', key),
    ['acme_eu:north'],
    'a tenant its own',
  )
  t.same(await found('/_auth/keys', 'bill', 'label', key), ['Müller billing'])
  t.same(await found('/_auth/keys', 'bea', 'label', key), [])
  t.same(await found('/_auth/tenants', 'g', 'tenant', key), [])
  t.same(await found('/_webhooks', 'https', 'label', key), ['Ångström'])

  for (const list of ['/_auth/users', '/_auth/keys', '/_auth/tenants', '/_webhooks']) {
    for (const nothing of ['', '%20', '-_', 'x'.repeat(201), '%00a']) {
      t.match(await ask(`${list}?search=${nothing}`), {
        status: 400,
        body: { code: 'SVC_INVALID_INPUT' },
      })
    }
  }
  await t.rejects(svc.auth.listUsers({ search: '' }), { code: 'SVC_INVALID_INPUT' })

  t.match((await ask('/_auth/tenants')).body, [
    { tenant: 'Globex', users: 1, keys: 2 },
    { tenant: 'acme_eu:north', users: 1, keys: 1 },
  ])
  const first = await ask('/_auth/tenants?limit=1&search=e')
  t.match(first.body, [{ tenant: 'acme_eu:north' }])
  const page = await ask('/_auth/tenants?limit=1')
  t.equal(page.headers['link'], '</_auth/tenants?limit=1&after=Globex>; rel="next"')
  t.match((await ask('/_auth/tenants?limit=1&after=Globex')).body, [{ tenant: 'acme_eu:north' }])

  await svc.eraseTenant('Globex')
  t.same(await found('/_auth/tenants', 'globex', 'tenant'), [])
  const { rows } = await svc.database.query('select tenant from svc."__svc.tenants" order by 1')
  t.same(rows, [{ tenant: 'acme_eu:north' }, { tenant: 'gone' }])
})

t.test('a search among 100 000 rows reads those that it finds, page by page', async (t) => {
  const database = await freshDatabase(t)
  const id = `('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid`
  const rows = 'generate_series(1, 100000) as n'
  await queryOn(
    database,
    // Without the triggers, which take longer than the rows.
    'set session_replication_role = replica',
    `insert into svc."__svc.auth.users" (id, email, name, role, tenant)
     select ${id}, 'person' || n || '@example.com', 'Person ' || md5(n::text), 'user', 'customer-' || n
       from ${rows}`,
    `insert into svc."__svc.auth.api_keys" (id, user_id, tenant, key_hash, key_prefix, label, scopes)
     select ${id}, ${id}, 'customer-' || n, encode(sha256(n::text::bytea), 'hex'), 'svc_aaaa', 'Key number' || n, '{}'
       from ${rows}`,
    `insert into svc."__svc.webhooks.registrations" (id, tenant, url, events, secret)
     select ${id}, 'customer-' || n, 'https://host' || n || '.example/hook', '{}', 'x' from ${rows}`,
    `insert into svc."__svc.tenants" (tenant) select 'customer-' || n from ${rows}`,
    'analyze',
  )
  const { pool, plans } = explainingPool(t, database)
  const { ask } = await startHost(t, pool)
  /** The scans of what was asked since the last time, and how many rows they read. */
  const readings = () => {
    const scans = plans
      .flatMap(nodesOf)
      .filter((node) => /^__svc\.(auth|webhooks|tenants)/.test(node['Relation Name'] ?? ''))
    plans.length = 0
    const read = scans.reduce(
      (sum, scan) =>
        sum +
        scan['Actual Rows'] * scan['Actual Loops'] +
        (scan['Rows Removed by Filter'] ?? 0) +
        (scan['Rows Removed by Index Recheck'] ?? 0),
      0,
    )
    return { scans, read }
  }
  for (const [list, common] of [
    ['/_auth/users', 'com'],
    ['/_auth/keys', 'key'],
    ['/_auth/keys', 'person'],
    ['/_webhooks', 'https'],
  ]) {
    readings()
    let next: string | undefined = `${list}?limit=50&search=${common}`
    for (let page = 0; page < 3; page++) {
      const { status, body, headers } = await ask(next!)
      t.equal(status, 200, `a word that is in each row of ${list}`)
      const newest = Array.from({ length: 50 }, (_, at) => 100_000 - 50 * page - at)
      t.same(
        body.map(({ id }: { id: string }) => Number(id.slice(-12))),
        newest,
      )
      next = /^<(.*)>; rel="next"$/.exec(String(headers['link']))?.[1]
      const { read } = readings()
      t.ok(read < 5000, `${list} ${common}: ${read} rows read`)
    }
  }
  await queryOn(
    database,
    `update svc."__svc.webhooks.registrations" set label = 'Ancient'
      where right(id::text, 12)::int <= 2000`,
  )
  const { body: ancient } = await ask('/_webhooks?limit=2&search=ancient')
  t.match(ancient, [{ id: /2000$/ }, { id: /1999$/ }], 'a common word that no new row has')
  const slow = slowPool(t, database)
  const other = await startHost(t, slow.pool)
  const first = await other.ask('/_webhooks?limit=2&search=ancient')
  t.same(first.body, [], 'a search that takes long shows what it has found')
  const [, further = ''] = /^<(.*)>; rel="next"$/.exec(String(first.headers['link'])) ?? []
  slow.byMs = 0
  t.same((await other.ask(further)).body, ancient, 'and the next page goes on there')
  slow.byMs = 1600
  const named = await other.svc.webhooks.list({ search: 'ancient', limit: 2 })
  t.match(named, ancient, 'code of the process gets all, or an error')
  slow.byMs = 5100
  await t.rejects(other.svc.webhooks.list({ search: 'ancient' }), { code: 'SVC_LIST_TOO_LONG' })
  for (const [list, search, count] of [
    ['/_auth/users', 'person777', 111],
    ['/_auth/users', 'person777 example', 111],
    ['/_auth/keys', 'number777', 111],
    ['/_auth/keys', 'person777', 111],
    ['/_auth/tenants', 'customer 777', 111],
    ['/_webhooks', 'host777', 111],
  ] as const) {
    readings()
    const seen: string[] = []
    let next: string | undefined = `${list}?limit=50&search=${encodeURIComponent(search)}`
    while (next !== undefined) {
      const { status, body, headers } = await ask(next)
      t.equal(status, 200)
      seen.push(...body.map((row: { id?: string; tenant: string }) => row.id ?? row.tenant))
      next = /^<(.*)>; rel="next"$/.exec(String(headers['link']))?.[1]
    }
    t.equal(new Set(seen).size, count, `${list} ${search}`)
    const byId = seen.toSorted((a, b) => (a < b ? 1 : -1))
    t.same(seen, list === '/_auth/tenants' ? byId.toReversed() : byId)
    const { scans, read } = readings()
    t.ok(scans.some((scan) => scan['Node Type'] === 'Bitmap Heap Scan'))
    t.notOk(scans.some((scan) => scan['Node Type'] === 'Seq Scan' && scan['Actual Rows'] > 100))
    t.ok(read < 3000, `${list} ${search}: ${read} rows read`)
  }
})
