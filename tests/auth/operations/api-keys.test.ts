import t from 'tap'
import { checksumOf } from '../../../packages/auth/src/key-format.ts'
import { startHost, withMe } from '../support/host.ts'

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000'

t.test('a key shows its text once', async (t) => {
  const { app, ask, makeUser } = await startHost(t, { after: withMe })
  const { id: userId } = await makeUser()

  const { status, body } = await ask('POST', `/_auth/users/${userId}/keys`)
  t.equal(status, 201)
  const { id, key, keyPrefix, createdAt, ...rest } = body
  t.match(key, /^svc_[0-9A-Za-z]{38}$/)
  t.equal(key.slice(36), checksumOf(key.slice(4, 36)))
  t.equal(keyPrefix, key.slice(0, 8))
  const none = {
    tenant: null,
    label: null,
    metadata: null,
    allowedIps: null,
    limits: null,
    quota: null,
    replaces: null,
    replacedBy: null,
  }
  t.same(rest, { ...none, userId, scopes: ['read', 'write'], expiresAt: null, enabled: true })

  const me = await ask('GET', '/me', { key })
  t.same(me.body, { userId, scopes: ['read', 'write'], bootstrap: false, keyId: id, tenant: null })

  const listed = await ask('GET', `/_auth/users/${userId}/keys`)
  const { lastUsedAt, ...listedKey } = listed.body[0]
  const unchanged = { revokedAt: null, replacedBy: null }
  t.same(listedKey, { ...rest, ...unchanged, id, keyPrefix, createdAt })
  t.ok(lastUsedAt >= createdAt)
  const { rows } = await app.svc.database.query('select * from svc."__svc.auth.api_keys"')
  t.notMatch(JSON.stringify(rows), key)
})

t.test('a key takes a label, an expiry and scopes, and null for none', async (t) => {
  const { ask, makeUser } = await startHost(t)
  const path = `/_auth/users/${(await makeUser()).id}/keys`
  const full = { label: 'CI', expiresAt: '2999-01-01T01:00:00+01:00', scopes: ['read'] }

  t.match((await ask('POST', path, { body: full })).body, {
    label: 'CI',
    expiresAt: '2999-01-01T00:00:00.000Z',
    scopes: ['read'],
  })
  const none = await ask('POST', path, { body: { label: null, expiresAt: null, scopes: [] } })
  t.match(none.body, { label: null, expiresAt: null })
  t.same(none.body.scopes, [])
  const zeroBytes = await ask('POST', path, { headers: { 'content-type': 'application/json' } })
  t.match(zeroBytes.body, { scopes: ['read', 'write'] })
})

t.test('creating a key with wrong values is a 400 with the reason', async (t) => {
  const { ask, makeUser } = await startHost(t)
  const path = `/_auth/users/${(await makeUser()).id}/keys`
  const cases: [body: object, code: string, message: RegExp][] = [
    [{ label: 5 }, 'SVC_INVALID_INPUT', /label/],
    [{ label: '' }, 'SVC_INVALID_INPUT', /label/],
    [{ expiresAt: 'soon' }, 'SVC_INVALID_INPUT', /expiresAt/],
    [{ expiresAt: 4_102_444_800 }, 'SVC_INVALID_INPUT', /expiresAt/],
    [{ expiresAt: '2001-01-01T00:00:00Z' }, 'SVC_AUTH_EXPIRY_IN_PAST', /future/],
    [{ scopes: 'read' }, 'SVC_INVALID_INPUT', /scopes/],
    [{ scopes: ['read', 'read'] }, 'SVC_INVALID_INPUT', /duplicate/],
    [{ scopes: ['read', 'nope'] }, 'SVC_AUTH_UNKNOWN_SCOPE', /"nope".*auth:manage/],
    [{ userId: UNKNOWN }, 'SVC_INVALID_INPUT', /userId/],
    [{ key: 'mine' }, 'SVC_INVALID_INPUT', /key/],
  ]
  for (const [body, code, message] of cases) {
    const answer = await ask('POST', path, { body })
    t.match(answer, {
      status: 400,
      body: { statusCode: 400, code, error: 'Bad Request', message },
    })
  }
})

t.test('a user that does not exist has no keys, and can be given none', async (t) => {
  const { ask } = await startHost(t)
  const gone = { status: 404, body: { code: 'SVC_AUTH_USER_NOT_FOUND' } }
  t.match(await ask('POST', `/_auth/users/${UNKNOWN}/keys`), gone)
  t.match(await ask('GET', `/_auth/users/${UNKNOWN}/keys`), gone)
})

t.test('a revoked key is refused at once, and cannot be revoked again', async (t) => {
  const { ask, makeKey } = await startHost(t, { after: withMe })
  const { id, key, userId } = await makeKey()
  t.equal((await ask('GET', '/me', { key })).status, 200)

  t.equal((await ask('DELETE', `/_auth/keys/${id}`)).status, 204)
  t.match(await ask('GET', '/me', { key }), {
    status: 401,
    body: { statusCode: 401, code: 'SVC_AUTH_INVALID_KEY', error: 'Unauthorized' },
    headers: { 'www-authenticate': 'Bearer' },
  })
  const notFound = { status: 404, body: { code: 'SVC_AUTH_KEY_NOT_FOUND' } }
  t.match(await ask('DELETE', `/_auth/keys/${id}`), notFound)
  t.match(await ask('DELETE', `/_auth/keys/${UNKNOWN}`), notFound)
  const [listed] = (await ask('GET', `/_auth/users/${userId}/keys`)).body
  t.match(listed, { id, revokedAt: /Z$/ })
})

t.test('deleting a user revokes all its keys', async (t) => {
  const { ask, makeKey } = await startHost(t, { after: withMe })
  const first = await makeKey()
  const second = await makeKey({ userId: first.userId })
  const other = await makeKey()
  for (const { key } of [first, second, other]) await ask('GET', '/me', { key })

  t.equal((await ask('DELETE', `/_auth/users/${first.userId}`)).status, 204)

  t.equal((await ask('GET', '/me', { key: first.key })).status, 401)
  t.equal((await ask('GET', '/me', { key: second.key })).status, 401)
  t.equal((await ask('GET', '/me', { key: other.key })).status, 200)
  t.equal((await ask('DELETE', `/_auth/keys/${first.id}`)).status, 404)
})

t.test('a key that is made while its user is deleted does not outlive it', async (t) => {
  const { ask, makeUser } = await startHost(t, { after: withMe })
  const { id } = await makeUser()
  const making = Array.from({ length: 12 }, () => ask('POST', `/_auth/users/${id}/keys`))
  const deleted = ask('DELETE', `/_auth/users/${id}`)
  const made = await Promise.all(making)
  t.equal((await deleted).status, 204)
  for (const { status, body } of made) {
    t.ok(status === 201 || status === 404)
    if (status === 201) t.equal((await ask('GET', '/me', { key: body.key })).status, 401)
  }
})

t.test('a key ends at the instant of its expiry', async (t) => {
  const { ask, makeKey } = await startHost(t, { after: withMe })
  const end = Date.now() + 3_600_000
  const { key } = await makeKey({ expiresAt: new Date(end).toISOString() })
  const { now } = Date
  const statusAt = async (ms: number) => {
    Date.now = () => ms
    try {
      return (await ask('GET', '/me', { key })).status
    } finally {
      Date.now = now
    }
  }
  t.equal(await statusAt(end - 1), 200)
  t.equal(await statusAt(end), 401)
  t.equal(await statusAt(end + 1), 401)
})
