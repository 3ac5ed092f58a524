import t from 'tap'
import { BOOTSTRAP_KEY, startHost } from '../support/host.ts'

t.test('every change of users and keys is in the audit, with who made it', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { fastify: { trustProxy: true } })
  const { audit, auth } = app.svc
  const manager = await makeKey({ scopes: ['admin'] })
  const start = (await audit.list()).length

  const headers = { 'x-forwarded-for': '192.0.2.7' }
  const by = { key: manager.key, headers }
  const body = { email: 'a@b.co', name: 'Ada', tenant: 'acme' }
  const { body: user } = await ask('POST', '/_auth/users', { ...by, body })
  const { body: key } = await ask('POST', `/_auth/users/${user.id}/keys`, by)
  await ask('PATCH', `/_auth/keys/${key.id}`, { ...by, body: { label: 'CI', enabled: false } })
  await ask('PATCH', `/_auth/keys/${key.id}`, { ...by, body: { label: 'CI' } })
  const { body: next } = await ask('POST', `/_auth/keys/${key.id}/rotate`, {
    key: BOOTSTRAP_KEY,
  })
  await auth.revokeApiKey(next.id)
  await ask('DELETE', `/_auth/users/${user.id}`, by)

  const rows = (await audit.list()).toReversed().slice(start)
  const actor = { kind: 'key', keyId: manager.id, userId: manager.userId }
  const request = { actor, tenant: 'acme', ip: '192.0.2.7', requestId: /^req-/ }
  const ofKey = (id: string) => ({ target: { kind: 'key', id } })
  t.match(rows, [
    {
      ...request,
      action: 'user.create',
      target: { kind: 'user', id: user.id },
      changes: { email: { from: null, to: 'a@b.co' }, tenant: { from: null, to: 'acme' } },
    },
    {
      ...request,
      action: 'key.create',
      ...ofKey(key.id),
      changes: { scopes: { from: null, to: ['read', 'write'] }, key: { from: null, to: '***' } },
    },
    {
      ...request,
      action: 'key.update',
      ...ofKey(key.id),
      changes: { label: { from: null, to: 'CI' }, enabled: { from: true, to: false } },
    },
    {
      action: 'key.rotate',
      ...ofKey(key.id),
      actor: { kind: 'bootstrap', keyId: null, userId: null },
      changes: { replacedBy: { from: null, to: next.id } },
    },
    {
      action: 'key.revoke',
      ...ofKey(next.id),
      actor: { kind: 'process', keyId: null, userId: null },
      requestId: null,
      ip: null,
    },
    { ...request, action: 'user.delete', changes: { email: { from: 'a@b.co', to: null } } },
    { ...request, action: 'key.revoke', ...ofKey(key.id) },
  ])
  t.equal(rows.length, 7, 'what changes nothing is no change')
  t.same(Object.keys(rows[2]?.changes ?? {}), ['label', 'enabled'])
  for (const { at } of rows) t.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at)
  t.notMatch(JSON.stringify(rows), key.key.slice(8, 20))
})

t.test('a change that is rolled back is not in the audit', async (t) => {
  const { app } = await startHost(t)
  const { audit, auth } = app.svc
  const rolledBack = app.svc.transaction(async (db) => {
    const user = await auth.createUser({ email: 'a@b.co', name: 'A' }, { db })
    await auth.createApiKey({ userId: user.id }, { db })
    throw new Error('no')
  })
  await t.rejects(rolledBack, { message: 'no' })
  t.same(await audit.list(), [])
  await t.rejects(auth.deleteUser('0190a1b2-0000-7000-8000-000000000000'))
  t.same(await audit.list(), [])
})

t.test(
  'the audit is read with audit:read or admin, and by a tenant as far as it goes',
  async (t) => {
    const { app, ask, makeKey } = await startHost(t)
    const acme = await app.svc.auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
    const reader = await makeKey({ userId: acme.id, scopes: ['audit:read'] })
    const operator = await makeKey({ scopes: ['audit:read'] })
    const manager = await makeKey({ scopes: ['auth:manage', 'read'] })

    t.equal((await ask('GET', '/_auth/audit', { key: manager.key })).status, 403)
    const all = await ask('GET', '/_auth/audit', { key: operator.key })
    t.equal(all.status, 200)
    t.same(all.body, await app.svc.audit.list())
    const own = await ask('GET', '/_auth/audit', { key: reader.key })
    t.same(own.body, await app.svc.audit.list({ tenant: 'acme' }))
    t.equal(own.body.length, 2)
    t.same((await ask('GET', '/_auth/audit?tenant=', { key: reader.key })).body, [])
    t.same((await ask('GET', '/_auth/audit?tenant=globex', { key: reader.key })).body, [])
  },
)

t.test('the audit is filtered and paged', async (t) => {
  const { app, ask, makeKey } = await startHost(t)
  const admin = await makeKey({ scopes: ['admin'] })
  const { body: user } = await ask('POST', '/_auth/users', {
    key: admin.key,
    body: { email: 'a@b.co', name: 'A', tenant: 'acme' },
  })
  await ask('POST', `/_auth/users/${user.id}/keys`, { key: admin.key })
  const actions = async (query: string) =>
    (await ask('GET', `/_auth/audit?${query}`)).body.map(({ action }: { action: string }) => action)

  t.same(await actions('tenant=acme'), ['key.create', 'user.create'])
  t.same(await actions('tenant='), ['key.create', 'user.create'])
  t.same(await actions(`actor=${admin.id}`), ['key.create', 'user.create'])
  t.same(await actions(`actor=${admin.userId}`), ['key.create', 'user.create'])
  t.same(await actions('actor=process'), ['key.create', 'user.create'])
  t.same(await actions('actor=bootstrap'), [])
  t.same(await actions(`target=${user.id}`), ['user.create'])
  t.same(await actions(`target=${user.id.toUpperCase()}`), ['user.create'])
  t.same(await actions('target=user'), ['user.create', 'user.create'])
  t.same(await actions('action=key.create&tenant=acme'), ['key.create'])
  const [latest] = await app.svc.audit.list({ limit: 1 })
  t.same((await actions(`since=${latest?.at}`)).at(0), 'key.create')
  t.same(await actions('since=2999-01-01T00:00:00Z'), [])
  t.same(await actions('until=2020-01-01T00:00:00Z'), [])
  t.equal((await actions('until=2999-01-01T00:00:00Z')).length, 4)
  t.equal((await ask('GET', '/_auth/audit?since=yesterday')).status, 400)

  const first = await ask('GET', '/_auth/audit?limit=3')
  const [, next = ''] = /<(.*)>; rel="next"/.exec(String(first.headers['link'])) ?? []
  const second = await ask('GET', next)
  t.same([...first.body, ...second.body], await app.svc.audit.list())
  t.notOk(second.headers['link'])
})

t.test('rows of the audit keep what actor and target were called then', async (t) => {
  const { app, ask } = await startHost(t)
  const { audit, auth } = app.svc
  const boss = await auth.createUser({ email: 'b@b.co', name: 'Grace', tenant: 'acme' })
  const { id: keyId, key } = await auth.createApiKey({ userId: boss.id, scopes: ['admin'] })
  const by = { key }
  const { body: user } = await ask('POST', '/_auth/users', {
    ...by,
    body: { email: 'a@b.co', name: 'Ada' },
  })
  await auth.updateApiKey({ id: keyId, label: 'CI' })
  const { body: made } = await ask('POST', `/_auth/users/${user.id}/keys`, {
    ...by,
    body: { label: 'shop' },
  })
  await ask('DELETE', `/_auth/keys/${made.id}`, by)
  await ask('DELETE', `/_auth/users/${user.id}`, by)
  await auth.updateApiKey({ id: keyId, label: 'later' })
  const named = async () =>
    (await audit.list({ actor: keyId })).map(({ action, actor, target }) => [
      action,
      actor.name,
      target.name,
    ])
  t.strictSame((await named()).toReversed(), [
    ['user.create', 'Grace', 'Ada'],
    ['key.create', 'CI', 'shop'],
    ['key.revoke', 'CI', 'shop'],
    ['user.delete', 'CI', 'Ada'],
  ])
  const acts = auth.as({ tenant: 'acme', actor: { kind: 'console', userId: boss.id, keyId: null } })
  await acts.updateApiKey({ id: keyId, label: null })
  const [row] = await audit.list({ limit: 1 })
  t.match(row, { actor: { userId: boss.id, name: 'Grace' }, target: { id: keyId, name: 'Grace' } })
  await auth
    .as({ tenant: 'acme', actor: { kind: 'console', userId: 'of the host', keyId: null } })
    .updateApiKey({ id: keyId, label: 'x' })
  t.match(await audit.list({ limit: 1 }), [
    { actor: { userId: 'of the host', name: null }, target: { name: 'x' } },
  ])
})

t.test('a key that is revoked with its user is named by it', async (t) => {
  const { app } = await startHost(t)
  const { auth, audit } = app.svc
  const { id: userId } = await auth.createUser({ name: 'Ada', email: 'ada@example.com' })
  const labelled = await auth.createApiKey({ userId, label: 'Billing', scopes: [] })
  const plain = await auth.createApiKey({ userId, scopes: [] })
  await auth.deleteUser(userId)
  const nameOf = async (target: string, action: string) =>
    (await audit.list({ target, action }))[0]?.target.name
  t.equal(await nameOf(userId, 'user.delete'), 'Ada')
  t.equal(await nameOf(labelled.id, 'key.revoke'), 'Billing')
  t.equal(await nameOf(plain.id, 'key.revoke'), 'Ada')
})
