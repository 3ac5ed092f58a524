import { advance } from '@svc/testing'
import t from 'tap'
import { startHost, withMe } from '../support/host.ts'

const fields = {
  label: 'CI',
  scopes: ['read'],
  expiresAt: '2999-01-01T00:00:00.000Z',
  metadata: { team: 'ops' },
  allowedIps: ['127.0.0.0/8'],
}

t.test('a rotation makes a key with the same rights, and both are valid for a while', async (t) => {
  const { ask, makeUser } = await startHost(t, { after: withMe })
  const { id: userId } = await makeUser()
  const { body: old } = await ask('POST', `/_auth/users/${userId}/keys`, { body: fields })

  const rotated = await ask('POST', `/_auth/keys/${old.id}/rotate`)
  t.match(rotated, { status: 201, body: { ...fields, userId, replaces: old.id } })
  t.match(rotated.body.key, /^svc_/)
  t.same(Object.keys(rotated.body).toSorted(), Object.keys(old).toSorted())

  const { body: replaced } = await ask('GET', `/_auth/keys/${old.id}`)
  t.match(replaced, { replacedBy: rotated.body.id, replaces: null, revokedAt: null })
  const endsIn = (Date.parse(replaced.expiresAt) - Date.now()) / 1000
  t.ok(endsIn > 86_000 && endsIn <= 86_401, `it ends in a day: ${endsIn}`)
  for (const { key } of [old, rotated.body]) {
    t.equal((await ask('GET', '/me', { key })).status, 200)
  }
  const { body: listed } = await ask('GET', `/_auth/users/${userId}/keys`)
  t.same(
    listed.map((key: { lastUsedAt: string | null }) => key.lastUsedAt !== null),
    [true, true],
  )
})

t.test('a rotation without an overlap ends the old key at once', async (t) => {
  const { ask, makeKey } = await startHost(t, { after: withMe })
  const { id, key } = await makeKey()
  t.equal((await ask('GET', '/me', { key })).status, 200)
  const body = { overlapSeconds: 0 }
  const { body: made } = await ask('POST', `/_auth/keys/${id}/rotate`, { body })
  t.equal((await ask('GET', '/me', { key })).status, 401)
  t.equal((await ask('GET', '/me', { key: made.key })).status, 200)
})

t.test('a rotation never prolongs the old key', async (t) => {
  const { app, ask, makeKey } = await startHost(t)
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  const { id } = await makeKey({ expiresAt })
  t.match(await app.svc.auth.rotateApiKey({ id }), { expiresAt, replaces: id })
  t.match((await ask('GET', `/_auth/keys/${id}`)).body, { expiresAt })
})

t.test('a key is rotated once, and not when it has ended', async (t) => {
  const { app, ask, makeKey, endKey } = await startHost(t)
  const { id } = await makeKey()
  const answers = await Promise.all([1, 2, 3].map(() => ask('POST', `/_auth/keys/${id}/rotate`)))
  t.same(answers.map(({ status }) => status).toSorted(), [201, 409, 409])
  const again = { status: 409, body: { code: 'SVC_AUTH_ALREADY_ROTATED' } }
  t.match(await ask('POST', `/_auth/keys/${id}/rotate`), again)

  const later = { expiresAt: null }
  t.match(await ask('PATCH', `/_auth/keys/${id}`, { body: later }), again, 'nor does it end later')
  t.equal((await ask('PATCH', `/_auth/keys/${id}`, { body: { label: 'old' } })).status, 200)

  const gone = { status: 404, body: { code: 'SVC_AUTH_KEY_NOT_FOUND' } }
  const revoked = await makeKey()
  await app.svc.auth.revokeApiKey(revoked.id)
  t.match(await ask('POST', `/_auth/keys/${revoked.id}/rotate`), gone)
  const expired = await makeKey()
  await endKey(expired.id)
  t.match(await ask('POST', `/_auth/keys/${expired.id}/rotate`), gone)
  for (const overlapSeconds of [-1, 1.5, '60', null]) {
    const body = { overlapSeconds }
    t.equal((await ask('POST', `/_auth/keys/${id}/rotate`, { body })).status, 400)
  }
})

t.test('a key whose successor was revoked is rotated again, and ends no later', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
  const until = '2999-01-01T00:00:00.000Z'
  const { id, key } = await makeKey({ expiresAt: until, limits: [{ limit: 3, perSeconds: 60 }] })
  const rotate = (overlapSeconds: number) =>
    ask('POST', `/_auth/keys/${id}/rotate`, { body: { overlapSeconds } })
  const { body: lost } = await rotate(3600)
  const { expiresAt } = (await ask('GET', `/_auth/keys/${id}`)).body
  t.equal((await rotate(3600)).status, 409)
  t.equal((await ask('DELETE', `/_auth/keys/${lost.id}`)).status, 204)
  t.equal((await ask('POST', '/_auth/me/rotate', { key })).status, 409, 'it cannot itself')

  const { status, body } = await rotate(86_400)
  t.match({ status, body }, { status: 201, body: { replaces: id, expiresAt: until } })
  t.match((await ask('GET', `/_auth/keys/${id}`)).body, { expiresAt, replacedBy: body.id })
  const used = [key, lost.key, body.key, key]
  const statuses = []
  for (const one of used) statuses.push((await ask('GET', '/me', { key: one })).status)
  t.same(statuses, [200, 401, 200, 429], 'they share their limits')
  t.equal((await rotate(60)).status, 409)
  const rotations = await app.svc.audit.list({ target: id, action: 'key.rotate' })
  t.match(
    rotations.map(({ changes }) => changes?.['replacedBy']),
    [
      { from: lost.id, to: body.id },
      { from: null, to: lost.id },
    ],
  )
})

t.test('a key rotates itself, whatever its scopes are', async (t) => {
  const { ask, makeKey } = await startHost(t, { after: withMe })
  const { id, key } = await makeKey({ scopes: [] })
  const { status, body } = await ask('POST', '/_auth/me/rotate', {
    key,
    body: { overlapSeconds: 9 },
  })
  t.match({ status, body }, { status: 201, body: { replaces: id, scopes: [] } })
  t.match(await ask('GET', '/_auth/me', { key: body.key }), {
    status: 200,
    body: { id: body.id, keyId: body.id, replaces: id, bootstrap: false },
  })
  t.match(await ask('POST', '/_auth/me/rotate'), { status: 404 }, 'the bootstrap key has no row')
  t.match(await ask('GET', '/_auth/me'), {
    status: 200,
    body: { id: null, userId: null, bootstrap: true, scopes: ['admin'] },
  })
  t.equal((await ask('GET', '/_auth/me', { key: null })).status, 401)
})

t.test('a caller that may not grant what a key holds cannot rotate it', async (t) => {
  const { ask, makeKey } = await startHost(t)
  const { key } = await makeKey({ scopes: ['auth:manage'] })
  const admin = await makeKey({ scopes: ['admin'] })
  t.match(await ask('POST', `/_auth/keys/${admin.id}/rotate`, { key }), {
    status: 403,
    body: { code: 'SVC_AUTH_SCOPE_NOT_GRANTABLE' },
  })
  const reader = await makeKey({ scopes: ['read'] })
  t.equal((await ask('POST', `/_auth/keys/${reader.id}/rotate`, { key })).status, 201)
})

t.test('a rotation in a transaction holds from its commit on', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
  const { id, key } = await makeKey()
  const made = await app.svc.transaction((db) =>
    app.svc.auth.rotateApiKey({ id, overlapSeconds: 0 }, { db }),
  )
  t.equal((await ask('GET', '/me', { key })).status, 401)
  t.equal((await ask('GET', '/me', { key: made.key })).status, 200)
})

t.test('keyPrefix begins the text of keys, and keys of other hosts stay valid', async (t) => {
  const host = await startHost(t, { auth: { keyPrefix: 'ac' }, after: withMe })
  const made = await host.makeKey()
  t.match(made.key, /^ac_[0-9A-Za-z]{38}$/)
  t.equal(made.keyPrefix.length, 8)
  const other = await startHost(t, { database: host.database, after: withMe })
  t.equal((await other.ask('GET', '/me', { key: made.key })).status, 200)
  const { key } = await other.makeKey()
  t.equal((await host.ask('GET', '/me', { key })).status, 200)
  for (const keyPrefix of ['', 'abcd', 'A', 'a1', 'a_']) {
    await t.rejects(startHost(t, { auth: { keyPrefix } }), { code: 'SVC_CORE_INVALID_OPTION' })
  }
})

t.test('of a chain of rotations two keys are valid, whatever their overlaps are', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
  const overlapSeconds = 31_536_000
  const chain = [await makeKey()]
  for (let rotation = 0; rotation < 3; rotation++) {
    const { id } = chain.at(-1)!
    chain.push(await app.svc.auth.rotateApiKey({ id, overlapSeconds }))
  }
  const statuses = []
  for (const { key } of chain) statuses.push((await ask('GET', '/me', { key })).status)
  t.same(statuses, [401, 401, 200, 200])
  const [ended] = await app.svc.audit.list({ target: chain[1]!.id, action: 'key.update' })
  t.same(Object.keys(ended?.changes ?? {}), ['expiresAt'])
})

t.test('rotations and revocations give a tenant no more keys than it may have', async (t) => {
  const { app, makeUser } = await startHost(t, { auth: { maxKeysPerTenant: 1 } })
  const { auth } = app.svc
  const { id: userId } = await makeUser('acme')
  const full = { statusCode: 409, code: 'SVC_AUTH_LIMIT_REACHED' }
  const create = () => auth.createApiKey({ userId })
  const first = await create()
  await t.rejects(create(), full)
  const second = await auth.rotateApiKey({ id: first.id, overlapSeconds: 3600 })
  await t.rejects(create(), full, 'the successor counts')
  await auth.revokeApiKey(second.id)
  await t.rejects(create(), full, 'without it the old key does, while it is valid')
  await auth.revokeApiKey(first.id)
  await create()
})

t.test('an expired successor is prolonged beside the key that it replaces', async (t) => {
  const { app, makeUser } = await startHost(t, { auth: { maxKeysPerTenant: 1 } })
  const { auth } = app.svc
  const { id: userId } = await makeUser('acme')
  const full = { statusCode: 409, code: 'SVC_AUTH_LIMIT_REACHED' }
  const create = () => auth.createApiKey({ userId })
  const later = '2999-01-01T00:00:00.000Z'
  const first = await create()
  const second = await auth.rotateApiKey({ id: first.id, overlapSeconds: 30 * 86_400 })
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  await auth.updateApiKey({ id: second.id, expiresAt: soon })
  await advance(app, 7200)

  t.match(await auth.updateApiKey({ id: second.id, expiresAt: later }), { expiresAt: later })
  await t.rejects(create(), full, 'both count once')

  await auth.updateApiKey({ id: second.id, expiresAt: soon })
  await advance(app, 40 * 86_400)
  await create()
  const prolonged = auth.updateApiKey({ id: second.id, expiresAt: later })
  await t.rejects(prolonged, full, 'another key counts')
})
