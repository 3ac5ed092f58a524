import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { watchStatements } from '../support/statements.ts'

const after = (app: FastifyInstance) => {
  app.get('/me', async (request) => request.auth)
  app.get('/invoices', { config: { scopes: ['billing:read'] } }, async () => [])
}
const auth = { scopes: ['billing:read', 'billing:write'], roles: { viewer: ['read'] } }

t.test('PATCH changes the given fields and leaves the others as they are', async (t) => {
  const { ask, makeKey } = await startHost(t, { auth })
  const { id } = await makeKey()
  const path = `/_auth/keys/${id}`
  const { body: made } = await ask('GET', path)

  const all = {
    label: 'CI',
    scopes: ['read', 'role:viewer', 'billing:*'],
    expiresAt: '2999-01-01T00:00:00.000Z',
    enabled: false,
    metadata: { team: 'ops', '': '' },
    allowedIps: ['192.0.2.0/24', '2001:db8::/32'],
  }
  const named = { ...all, metadata: { team: 'ops 🔑', note: '', 'two\nlines': 'a\nb' } }
  t.match(await ask('PATCH', path, { body: all }), { status: 400 }, 'a name has a character')
  const changed = await ask('PATCH', path, { body: named })
  t.equal(changed.status, 200)
  t.same(changed.body, { ...made, ...named })
  t.same((await ask('GET', path)).body, { ...made, ...named })
  t.match((await ask('PATCH', path, { body: { label: 'CD' } })).body, { ...named, label: 'CD' })
  t.match((await ask('PATCH', path)).body, { ...named, label: 'CD' }, 'no body changes nothing')

  const none = { label: null, expiresAt: null, metadata: null, allowedIps: null }
  const reset = await ask('PATCH', path, { body: none })
  t.same(reset.body, { ...made, ...none, enabled: false, scopes: all.scopes })
})

t.test('a key is created with the same fields', async (t) => {
  const { ask, makeUser } = await startHost(t, { auth })
  const body = {
    enabled: false,
    metadata: { plan: 'pro' },
    allowedIps: ['192.0.2.7'],
    scopes: ['role:viewer'],
  }
  const made = await ask('POST', `/_auth/users/${(await makeUser()).id}/keys`, { body })
  t.match(made, { status: 201, body })
})

t.test('changing a key to wrong values is a 400 with the reason', async (t) => {
  const { ask, makeKey } = await startHost(t, { auth })
  const { id } = await makeKey()
  const cases: [body: object, message: RegExp][] = [
    [{ enabled: null }, /enabled/],
    [{ enabled: 'yes' }, /enabled/],
    [{ metadata: { a: 1 } }, /metadata/],
    [
      { metadata: { a: '\ud800' } },
      /metadata\/a must be text without NUL and half of a surrogate pair/,
    ],
    [{ metadata: { 'a\udfff': '' } }, /metadata: its name "a.*" must be text without NUL/],
    [{ metadata: { '': '' } }, /metadata: its name "" must NOT have fewer than 1 characters/],
    [
      { metadata: { ['k'.repeat(101)]: '' } },
      /metadata: its name "k+" must NOT have more than 100/,
    ],
    [{ label: 'half of a pair: \ud800' }, /label must be text without NUL/],
    [{ metadata: { a: { b: 'c' } } }, /metadata/],
    [{ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [i, ''])) }, /50/],
    [{ allowedIps: [] }, /allowedIps/],
    [{ limits: Array(2).fill({ limit: 1, perSeconds: 60 }) }, /limits.* one .* two for 60/],
    [{ allowedIps: ['example.com'] }, /allowedIps.*"example.com"/],
    [{ allowedIps: ['192.0.2.0/33'] }, /CIDRs .* or of single addresses/],
    [{ scopes: ['role:nobody'] }, /"role:nobody"; there are: .*role:viewer/],
    [{ scopes: ['auth:*'] }, /"auth:\*"/],
    [{ scopes: null }, /scopes/],
    [{ expiresAt: '2001-01-01T00:00:00Z' }, /future/],
    [{ tenant: 'acme' }, /tenant/],
    [{ keyPrefix: 'x' }, /keyPrefix/],
  ]
  for (const [body, message] of cases) {
    t.match(await ask('PATCH', `/_auth/keys/${id}`, { body }), { status: 400, body: { message } })
  }
})

t.test('a disabled key is refused as a revoked one is, and can be enabled again', async (t) => {
  const { ask, makeKey } = await startHost(t, { auth, after })
  const { id, key } = await makeKey()
  t.equal((await ask('GET', '/me', { key })).status, 200)
  for (let i = 0; i < 2; i++) {
    await ask('PATCH', `/_auth/keys/${id}`, { body: { enabled: false } })
    t.match(await ask('GET', '/me', { key }), {
      status: 401,
      body: { code: 'SVC_AUTH_INVALID_KEY' },
      headers: { 'www-authenticate': 'Bearer' },
    })
    await ask('PATCH', `/_auth/keys/${id}`, { body: { enabled: true } })
    t.equal((await ask('GET', '/me', { key })).status, 200)
  }
  await ask('DELETE', `/_auth/keys/${id}`)
  const gone = { status: 404, body: { code: 'SVC_AUTH_KEY_NOT_FOUND' } }
  t.match(await ask('PATCH', `/_auth/keys/${id}`, { body: { enabled: true } }), gone)
  t.match(await ask('GET', `/_auth/keys/${id}`), { status: 200, body: { revokedAt: /Z$/ } })
  for (const unknown of ['0190a1b2-0000-7000-8000-000000000000', 'x', 'y'.repeat(300)]) {
    t.match(await ask('GET', `/_auth/keys/${unknown}`), gone)
    t.match(await ask('PATCH', `/_auth/keys/${unknown}`, { body: {} }), gone)
  }
})

t.test('a change of a key holds from its commit on, and not where it is rolled back', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { auth, after })
  const { id, key } = await makeKey()
  const disabled = app.svc.transaction(async (db) => {
    await app.svc.auth.updateApiKey({ id, enabled: false }, { db })
    throw new Error('no')
  })
  await t.rejects(disabled, { message: 'no' })
  t.equal((await ask('GET', '/me', { key })).status, 200)
  await app.svc.transaction((db) => app.svc.auth.updateApiKey({ id, enabled: false }, { db }))
  t.equal((await ask('GET', '/me', { key })).status, 401)
})

t.test('a change of a key holds in other processes within a second', async (t) => {
  const host = await startHost(t, { auth, after })
  const other = await startHost(t, { database: host.database, auth, after })
  const { id, key } = await host.makeKey()
  const statusIs = (status: number) =>
    until(async () => (await other.ask('GET', '/me', { key })).status === status)
  await statusIs(200)
  const changes: [change: { enabled?: boolean; allowedIps?: string[] }, status: number][] = [
    [{ enabled: false }, 401],
    [{ enabled: true }, 200],
    [{ allowedIps: ['192.0.2.0/24'] }, 403],
    [{ allowedIps: ['127.0.0.0/8'] }, 200],
  ]
  for (const [change, status] of changes) {
    await host.app.svc.auth.updateApiKey({ id, ...change })
    await statusIs(status)
  }
})

t.test('a key is used from its networks alone', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { auth, fastify: { trustProxy: true }, after })
  const { id, key } = await makeKey()
  const from = async (ip: string) => ask('GET', '/me', { key, headers: { 'x-forwarded-for': ip } })
  t.equal((await from('198.51.100.1')).status, 200)

  const allowedIps = ['192.0.2.0/24', '2001:db8::/32']
  await app.svc.auth.updateApiKey({ id, allowedIps })
  const { texts } = watchStatements(app)
  t.equal((await from('192.0.2.9')).status, 200)
  const queries = texts.length
  for (const ip of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::7']) {
    t.equal((await from(ip)).status, 200, ip)
  }
  for (const ip of ['198.51.100.1', '2001:db9::7', '127.0.0.1', 'nonsense']) {
    t.match(
      await from(ip),
      {
        status: 403,
        body: { code: 'SVC_AUTH_IP_NOT_ALLOWED', error: 'insufficient permissions' },
      },
      ip,
    )
  }
  // The poll that reads of the change forgets the key once more.
  t.ok(texts.length - queries <= 1, 'a key that was seen is decided without a query')
  await app.svc.auth.updateApiKey({ id, allowedIps: null })
  t.equal((await from('198.51.100.1')).status, 200)
})

t.test('roles and namespaces of a key are resolved by the host that reads the key', async (t) => {
  const viewers = await startHost(t, { auth, after })
  const { key } = await viewers.makeKey({ scopes: ['role:viewer', 'billing:*'] })
  const { scopes } = (await viewers.ask('GET', '/me', { key })).body
  t.same(scopes, ['read', 'billing:*', 'billing:read', 'billing:write'])
  t.equal((await viewers.ask('GET', '/invoices', { key })).status, 200)

  const { database } = viewers
  const roles = { viewer: ['write', 'auth:manage'] }
  const other = await startHost(t, { database, auth: { scopes: ['billing:read'], roles }, after })
  t.same((await other.ask('GET', '/me', { key })).body.scopes, [
    'write',
    'auth:manage',
    'billing:*',
    'billing:read',
  ])
  t.same((await other.ask('GET', '/_auth/me', { key })).body.scopes.length, 4)
})

t.test(
  'keys that end soon are listed, also without those that were made for a short time',
  async (t) => {
    const { app, ask, makeKey, endKey } = await startHost(t, { auth, after })
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
    const long = await makeKey({ expiresAt: inDays(3) })
    await app.svc.database.query(
      `update svc."__svc.auth.api_keys" set created_at = now() - interval '90 days' where id = $1`,
      [long.id],
    )
    const short = await makeKey({ expiresAt: inDays(3) })
    await makeKey({ expiresAt: inDays(9) })
    await makeKey()
    const ended = await makeKey({ expiresAt: inDays(3) })
    await endKey(ended.id)
    const disabled = await makeKey({ expiresAt: inDays(3) })
    await ask('PATCH', `/_auth/keys/${disabled.id}`, { body: { enabled: false } })
    const rotated = await makeKey({ expiresAt: inDays(3) })
    const successor = await ask('POST', `/_auth/keys/${rotated.id}/rotate`)
    const idsOf = async (query: string) =>
      (await ask('GET', `/_auth/keys?${query}`)).body.map(({ id }: { id: string }) => id)

    t.same(await idsOf('expiresWithinDays=7'), [successor.body.id, short.id, long.id])
    t.same(await idsOf('expiresWithinDays=7&lifetimeOverDays=7'), [long.id])
    t.same(await idsOf('expiresWithinDays=2'), [])
  },
)

t.test('keys are listed by user, prefix, state and last use', async (t) => {
  const { app, ask, makeKey, endKey } = await startHost(t, { auth, after })
  const active = await makeKey()
  const { userId } = active
  const disabled = await makeKey({ userId })
  await ask('PATCH', `/_auth/keys/${disabled.id}`, { body: { enabled: false } })
  const revoked = await makeKey({ userId })
  await ask('DELETE', `/_auth/keys/${revoked.id}`)
  const expired = await makeKey({ expiresAt: '2999-01-01T00:00:00Z' })
  await endKey(expired.id)
  const idsOf = async (query: string) =>
    (await ask('GET', `/_auth/keys?${query}`)).body.map(({ id }: { id: string }) => id)

  t.same(await idsOf('state=active'), [active.id])
  t.same(await idsOf('state=disabled'), [disabled.id])
  t.same(await idsOf('state=revoked'), [revoked.id])
  t.same(await idsOf('state=expired'), [expired.id])
  t.same(await idsOf(`userId=${userId}`), [revoked.id, disabled.id, active.id])
  t.same(await idsOf('userId=nobody'), [])
  t.same(await idsOf(`prefix=${active.keyPrefix}`), [active.id])
  t.same(await idsOf(`prefix=svc_`), [expired.id, revoked.id, disabled.id, active.id])
  t.same(await idsOf('prefix=xyz'), [])
  const start = new Date(Date.now() - 60_000).toISOString()
  t.equal((await ask('GET', '/me', { key: active.key })).status, 200)
  t.same(await idsOf(`state=active&unusedSince=${start}`), [])
  const later = new Date(Date.now() + 60_000).toISOString()
  t.same(await idsOf(`state=active&unusedSince=${later}`), [active.id])
  t.equal((await ask('GET', '/_auth/keys?state=gone')).status, 400)

  const first = await ask('GET', '/_auth/keys?limit=3&prefix=svc_')
  t.equal(first.body.length, 3)
  const [, next = ''] = /<(.*)>; rel="next"/.exec(String(first.headers['link'])) ?? []
  t.same(
    (await ask('GET', next)).body.map(({ id }: { id: string }) => id),
    [active.id],
  )
  t.same(await app.svc.auth.listApiKeys({ state: 'disabled', limit: 5 }), [
    await app.svc.auth.getApiKey(disabled.id),
  ])
})
