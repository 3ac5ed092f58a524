import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import type { ImportedKey } from '@svc/auth'
import { published } from '../support/key-ageing.ts'
import { startHost, statusOf, withMe, type Host } from '../support/host.ts'

/** The text of a key of another system. */
const foreignKey = () => `acme_${randomBytes(24).toString('base64url')}`
const sha256 = (text: string, encoding: 'hex' | 'base64' | 'base64url' = 'hex') =>
  createHash('sha256').update(text).digest(encoding)

/** How many keys there are. */
async function keyCount({ app }: Host): Promise<number> {
  return (await app.svc.auth.listApiKeys({})).length
}

t.test('a key of another system opens routes here, by its SHA-256', async (t) => {
  const host = await startHost(t, { after: withMe })
  const { id: userId } = await host.makeUser()
  const keys = [foreignKey(), foreignKey(), foreignKey(), foreignKey()] as const
  t.equal(await statusOf(host, keys[0]), 401)
  const made = await host.app.svc.auth.importApiKeys([
    { userId, sha256: sha256(keys[0]) },
    { userId, sha256: sha256(keys[1]).toUpperCase() },
    { userId, sha256: sha256(keys[2], 'base64') },
    { userId, sha256: sha256(keys[3], 'base64url') },
  ])
  t.same(made, { imported: 4, skipped: [] })
  for (const key of keys) t.equal(await statusOf(host, key), 200)
  t.equal(await statusOf(host, foreignKey()), 401)
})

t.test('an imported key has the fields of its entry, and is managed as others are', async (t) => {
  const host = await startHost(t, { after: withMe, auth: { scopes: ['billing:read'] } })
  const { ask, app } = host
  const { id: userId } = await host.makeUser('acme')
  const key = foreignKey()
  const fields = {
    label: 'CI',
    scopes: ['read', 'billing:read'],
    expiresAt: '2999-01-01T00:00:00.000Z',
    metadata: { from: 'acme' },
    limits: [{ limit: 100, perSeconds: 60 }],
    quota: { limit: 1000, period: 'day' as const },
    allowedIps: ['127.0.0.0/8'],
  }
  const entry = { ...fields, keyPrefix: 'acme_', createdAt: '2020-02-01T00:00:00.000Z' }
  await app.svc.auth.importApiKeys([
    { userId, sha256: sha256(key), ...entry },
    { userId, sha256: sha256(foreignKey()) },
  ])
  const [plain, made] = await app.svc.auth.listApiKeys({ tenant: 'acme' })
  t.match(made, { userId, tenant: 'acme', enabled: true, lastUsedAt: null, ...entry })
  t.match(plain, {
    keyPrefix: 'imported',
    label: null,
    scopes: ['read', 'write'],
    expiresAt: null,
    limits: null,
  })
  t.ok(Date.now() - Date.parse(plain?.createdAt ?? '') < 60_000)
  t.match(await ask('GET', `/_auth/keys?prefix=acme_`), { body: [{ id: made?.id }] })

  const path = `/_auth/keys/${made?.id}`
  t.equal(await statusOf(host, key), 200)
  t.match(await ask('PATCH', path, { body: { enabled: false } }), { status: 200 })
  t.equal(await statusOf(host, key), 401)
  t.match(await ask('PATCH', path, { body: { enabled: true, label: 'Deploy' } }), { status: 200 })
  t.equal(await statusOf(host, key), 200)
  const next = await ask('POST', `${path}/rotate`)
  t.match(next, { status: 201, body: { key: /^svc_/, ...fields, label: 'Deploy' } })
  t.equal(await statusOf(host, next.body.key), 200)
  t.equal((await ask('DELETE', path)).status, 204)
  t.equal(await statusOf(host, key), 401)
})

t.test('what was imported before is skipped, also once it is revoked or expired', async (t) => {
  const host = await startHost(t, { after: withMe })
  const { auth } = host.app.svc
  const [alice, bob] = [await host.makeUser(), await host.makeUser()]
  const expiresAt = new Date(Date.now() + 3600_000).toISOString()
  const keys: ImportedKey[] = [
    { userId: alice.id, sha256: sha256('one') },
    { userId: alice.id, sha256: sha256('two'), expiresAt },
    { userId: bob.id, sha256: sha256('three', 'base64') },
  ]
  t.same(await auth.importApiKeys(keys), { imported: 3, skipped: [] })
  const [, second, first] = await auth.listApiKeys({})
  await auth.revokeApiKey(first?.id ?? '')
  await host.app.svc.database.query(
    `update svc."__svc.auth.api_keys" set expires_at = now() - interval '1 day' where id = $1`,
    [second?.id],
  )
  await auth.deleteUser(bob.id)
  const known = (index: number) => ({ index, reason: 'known' })
  const again = [...keys, { userId: alice.id, sha256: sha256('four') }]
  const past = again.map((key) =>
    key.expiresAt ? { ...key, expiresAt: '2020-01-01T00:00:00Z' } : key,
  )
  t.same(await auth.importApiKeys(past), { imported: 1, skipped: [known(0), known(1), known(2)] })
  t.same(await auth.importApiKeys(past), {
    imported: 0,
    skipped: [known(0), known(1), known(2), known(3)],
  })
  t.same(
    await auth.importApiKeys([
      { userId: alice.id, sha256: sha256('five') },
      { userId: alice.id, sha256: sha256('five', 'base64url') },
    ]),
    { imported: 1, skipped: [known(1)] },
    'and what is in the list twice',
  )
  t.equal(await statusOf(host, 'one'), 401, 'a revoked key stays revoked')
  t.equal(await statusOf(host, 'five'), 200)
  t.equal(await keyCount(host), 5)
})

t.test('two imports of the same keys at once make each of them once', async (t) => {
  const host = await startHost(t)
  const { id: userId } = await host.makeUser()
  const keys = Array.from({ length: 200 }, (_, n) => ({ userId, sha256: sha256(`key ${n}`) }))
  const { auth } = host.app.svc
  const results = await Promise.all([
    auth.importApiKeys(keys),
    auth.importApiKeys(keys.toReversed()),
    auth.importApiKeys(keys.toSpliced(50, 50)),
  ])
  const imported = results.map((result) => result.imported)
  t.equal(
    imported.reduce((sum, one) => sum + one),
    200,
    imported.join(),
  )
  t.equal(await keyCount(host), 200)
})

t.test(
  'an entry that is wrong fails the whole call, which names its index and its field',
  async (t) => {
    const host = await startHost(t, { auth: { maxKeyLifetimeDays: 365 } })
    const { app, ask } = host
    const { id: userId } = await host.makeUser()
    const right = () => ({ userId, sha256: sha256(foreignKey()) })
    const wrong: [about: string, entry: object, field: string, code?: string][] = [
      ['no hash', { userId }, 'sha256'],
      ['both hashes', { ...right(), hash: 'x' }, 'hash'],
      ['a hash that nothing makes here', { userId, hash: 'x' }, 'hash'],
      ['hex that is too short', { userId, sha256: 'ab'.repeat(31) }, 'sha256'],
      ['hex of SHA-512', { userId, sha256: 'ab'.repeat(64) }, 'sha256'],
      ['no hex', { userId, sha256: 'xy'.repeat(32) }, 'sha256'],
      ['base64 of 31 bytes', { userId, sha256: randomBytes(31).toString('base64') }, 'sha256'],
      ['base64 of two alphabets', { userId, sha256: `+_${'A'.repeat(41)}` }, 'sha256'],
      ['an empty text', { userId, sha256: '' }, 'sha256'],
      ['a number', { userId, sha256: 5 }, 'sha256'],
      ['an empty hash', { userId, hash: '' }, 'hash'],
      ['no user', { sha256: sha256('x') }, 'userId'],
      ['a user that is not there', { ...right(), userId: crypto.randomUUID() }, 'userId'],
      ['a user that is no UUID', { ...right(), userId: 'ada' }, 'userId'],
      ['a long prefix', { ...right(), keyPrefix: 'acme_live' }, 'keyPrefix'],
      ['an empty prefix', { ...right(), keyPrefix: '' }, 'keyPrefix'],
      ['a prefix with a blank', { ...right(), keyPrefix: 'a b' }, 'keyPrefix'],
      ['an unknown scope', { ...right(), scopes: ['nope'] }, 'scopes', 'SVC_AUTH_UNKNOWN_SCOPE'],
      [
        'an expiry in the past',
        { ...right(), expiresAt: '2020-01-01T00:00:00Z' },
        'expiresAt',
        'SVC_AUTH_EXPIRY_IN_PAST',
      ],
      [
        'too long a life',
        { ...right(), expiresAt: '2999-01-01T00:00:00Z' },
        'expiresAt',
        'SVC_AUTH_LIFETIME_TOO_LONG',
      ],
      ['an expiry that is no time', { ...right(), expiresAt: 'soon' }, 'expiresAt'],
      ['made in the future', { ...right(), createdAt: '2999-01-01T00:00:00Z' }, 'createdAt'],
      ['made at no time', { ...right(), createdAt: 'once' }, 'createdAt'],
      [
        'no network',
        { ...right(), allowedIps: ['10.0.0.0/33'] },
        'allowedIps',
        'SVC_AUTH_INVALID_NETWORK',
      ],
      [
        'two limits for a span',
        {
          ...right(),
          limits: [
            { limit: 1, perSeconds: 1 },
            { limit: 2, perSeconds: 1 },
          ],
        },
        'limits',
      ],
      ['a limit of nothing', { ...right(), limits: [{ limit: 0, perSeconds: 1 }] }, 'limits'],
      ['a quota of no period', { ...right(), quota: { limit: 1, period: 'year' } }, 'quota'],
      ['metadata of numbers', { ...right(), metadata: { n: 1 } }, 'metadata'],
      ['a label that is too long', { ...right(), label: 'x'.repeat(201) }, 'label'],
      ['a field that there is not', { ...right(), enabled: true }, 'enabled'],
    ]
    for (const [about, entry, field, code = 'SVC_INVALID_INPUT'] of wrong) {
      const keys = [right(), entry, right()]
      const message = new RegExp(`keys/1.*${field}`, 's')
      const answer = await ask('POST', '/_auth/keys/import', { body: { keys } })
      t.match(answer, { status: 400, body: { code, message } }, `${about}: ${answer.body.message}`)
      const call = app.svc.auth.importApiKeys(keys as ImportedKey[])
      await t.rejects(call, { code, statusCode: 400, message }, about)
    }
    t.equal(await keyCount(host), 0, 'nothing of it stands')
    for (const keys of [undefined, null, {}, 'x', [null], [[]]]) {
      await t.rejects(app.svc.auth.importApiKeys(keys as never), { code: 'SVC_INVALID_INPUT' })
    }
    t.match(await ask('POST', '/_auth/keys/import', { body: {} }), { status: 400 })
  },
)

t.test('an import is committed, and rolled back, with the transaction of its caller', async (t) => {
  const host = await startHost(t, { after: withMe })
  const { svc } = host.app
  const { id: userId } = await host.makeUser()
  const [lost, kept] = [foreignKey(), foreignKey()]
  const failed = svc.transaction(async (db) => {
    await svc.auth.importApiKeys([{ userId, sha256: sha256(lost) }], { db })
    throw new Error('no')
  })
  await t.rejects(failed, { message: 'no' })
  t.equal(await statusOf(host, lost), 401)
  await svc.transaction(async (db) => {
    const user = await svc.auth.createUser({ email: 'new@example.com', name: 'New' }, { db })
    await svc.auth.importApiKeys([{ userId: user.id, sha256: sha256(kept) }], { db })
  })
  t.equal(await statusOf(host, kept), 200)
  t.equal(await keyCount(host), 1)
})

t.test('an import is for operators with the scope admin', async (t) => {
  const host = await startHost(t)
  const { app, ask, makeKey } = host
  const ofAcme = await host.makeUser('acme')
  const tenantAdmin = await makeKey({ userId: ofAcme.id, scopes: ['admin'] })
  const manager = await makeKey({ scopes: ['auth:manage'] })
  const admin = await makeKey({ scopes: ['admin'] })
  const body = () => ({ keys: [{ userId: ofAcme.id, sha256: sha256(foreignKey()) }] })
  const answer = (key: string) => ask('POST', '/_auth/keys/import', { key, body: body() })
  t.match(await answer(tenantAdmin.key), { status: 403, body: { code: 'SVC_AUTH_OPERATOR_ONLY' } })
  t.match(await answer(manager.key), { status: 403, body: { code: 'SVC_AUTH_INSUFFICIENT_SCOPE' } })
  t.match(await answer(admin.key), { status: 200, body: { imported: 1, skipped: [] } })
  const acme = app.svc.auth.as({ tenant: 'acme' })
  await t.rejects(acme.importApiKeys(body().keys), { code: 'SVC_AUTH_OPERATOR_ONLY' })
})

t.test('a restricted key imports nothing that may do more', async (t) => {
  const host = await startHost(t)
  const expiresAt = '2999-01-01T00:00:00.000Z'
  const { key, userId } = await host.makeKey({ scopes: ['admin'], expiresAt })
  const imported = (entry: object) =>
    host.ask('POST', '/_auth/keys/import', {
      key,
      body: { keys: [{ userId, sha256: sha256(foreignKey()), ...entry }] },
    })
  t.match(await imported({}), {
    status: 403,
    body: { code: 'SVC_AUTH_NOT_GRANTABLE', message: /^keys\/0: .*expiresAt/ },
  })
  t.match(await imported({ expiresAt }), { status: 200 })
})

t.test('imported keys count for no limit on their number', async (t) => {
  const host = await startHost(t, { auth: { maxKeysPerTenant: 2 } })
  const { auth } = host.app.svc
  const { id: userId } = await host.makeUser('acme')
  const keys = ['one', 'two', 'three'].map((text) => ({ userId, sha256: sha256(text) }))
  t.match(await auth.importApiKeys(keys), { imported: 3 })
  const [last] = await auth.listApiKeys({})
  await auth.rotateApiKey({ id: last?.id ?? '' })
  await auth.createApiKey({ userId })
  await auth.createApiKey({ userId })
  await t.rejects(auth.createApiKey({ userId }), { code: 'SVC_AUTH_LIMIT_REACHED' })
  t.match(await auth.importApiKeys([{ userId, sha256: sha256('four') }]), { imported: 1 })
})

t.test('each import has one row in the audit, and makes no event', async (t) => {
  const host = await startHost(t)
  const { app, ask } = host
  const { id: userId } = await host.makeUser('acme')
  const keys = ['one', 'two'].map((text) => ({ userId, sha256: sha256(text) }))
  const { id: other } = await host.makeUser()
  await app.svc.auth.importApiKeys(keys)
  await ask('POST', '/_auth/keys/import', {
    body: {
      keys: [
        ...keys,
        { userId, sha256: sha256('three') },
        { userId: other, sha256: sha256('four') },
      ],
    },
  })
  await app.svc.auth.importApiKeys([])
  const rows = await app.svc.audit.list({ target: 'import' })
  t.match(rows, [
    { action: 'key.import', tenant: null, changes: {} },
    {
      action: 'key.import',
      tenant: null,
      actor: { kind: 'bootstrap' },
      changes: { imported: { from: null, to: 2 }, skipped: { from: null, to: 2 } },
    },
    {
      action: 'key.import',
      tenant: 'acme',
      actor: { kind: 'process' },
      changes: { imported: { to: 2 } },
    },
  ])
  t.equal(rows.length, 3)
  t.same(await app.svc.audit.list({ target: 'key' }), [])
  t.same(await published(app, 'created'), [])
})

t.test('ten thousand keys are imported at a time, in a body of up to 8 MiB', async (t) => {
  const host = await startHost(t, { after: withMe })
  const { ask } = host
  const { id: userId } = await host.makeUser()
  const entry = (n: number) => ({
    userId,
    sha256: sha256(`key ${n}`),
    metadata: { note: 'x'.repeat(600) },
  })
  const keys = Array.from({ length: 10_000 }, (_, n) => entry(n))
  t.ok(JSON.stringify({ keys }).length > 7 * 1024 * 1024)
  t.match(await ask('POST', '/_auth/keys/import', { body: { keys } }), {
    status: 200,
    body: { imported: 10_000, skipped: [] },
  })
  t.equal(await statusOf(host, 'key 9999'), 401, 'a text with a blank is no key')
  t.match(await ask('POST', '/_auth/keys/import', { body: { keys: [...keys, entry(10_000)] } }), {
    status: 400,
    body: { message: /keys must NOT have more than 10000 items/ },
  })
  const large = { keys: [{ ...entry(0), label: 'x'.repeat(8 * 1024 * 1024) }] }
  t.match(await ask('POST', '/_auth/keys/import', { body: large }), { status: 413 })
})

t.test('a flood of texts that nobody has issued keeps no imported key out', async (t) => {
  const host = await startHost(t, { after: withMe })
  const { id: userId } = await host.makeUser()
  const keys = Array.from({ length: 20 }, foreignKey)
  await host.app.svc.auth.importApiKeys(keys.map((key) => ({ userId, sha256: sha256(key) })))
  // So many at a time that a busy machine looks them up in time.
  const some = () => Array.from({ length: 500 }, () => statusOf(host, foreignKey()))
  const flood: number[] = []
  while (flood.length < 4500) flood.push(...(await Promise.all(some())))
  const last = some()
  const statuses = await Promise.all(keys.map((key) => statusOf(host, key)))
  t.same([...new Set(statuses)], [200])
  t.same([...new Set([...flood, ...(await Promise.all(last))])], [401])
})
