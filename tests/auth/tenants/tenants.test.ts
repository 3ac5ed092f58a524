import type { FastifyInstance } from 'fastify'
import { requestContext } from '@fastify/request-context'
import t from 'tap'
import { startHost, type Host } from '../support/host.ts'

const after = (app: FastifyInstance) => {
  app.get('/who', async (request) => request.auth)
  app.get('/context', async () => requestContext.get('auth.tenant') ?? 'none')
}

const FOREIGN = { status: 403, body: { statusCode: 403, code: 'SVC_FOREIGN_TENANT' } }

const keyOf = ({ makeKey }: Host, tenant: string | null, scopes: string[]) =>
  makeKey({ tenant, scopes })

t.test('a key has the tenant of its user, and so has the request', async (t) => {
  const host = await startHost(t, { auth: { requestContext: true }, after })
  const { app, ask } = host
  const made = await keyOf(host, 'acme', ['read'])
  t.equal(made.tenant, 'acme')

  t.match((await ask('GET', '/who', { key: made.key })).body, { tenant: 'acme', keyId: made.id })
  t.equal((await ask('GET', '/context', { key: made.key })).body, 'acme')
  t.equal((await ask('GET', '/context')).body, 'none')
  t.match(await app.svc.auth.validateApiKey(made.key), { valid: true, tenant: 'acme' })
  t.match((await ask('GET', '/_auth/me', { key: made.key })).body, { tenant: 'acme' })
})

t.test('a tenant is 1 to 64 characters that need no encoding', async (t) => {
  const { ask } = await startHost(t)
  const create = (tenant: unknown, email: string) =>
    ask('POST', '/_auth/users', { body: { email, name: 'A', tenant } })
  t.match(await create('Acme_1.2:x-y', 'a@b.co'), { status: 201, body: { tenant: 'Acme_1.2:x-y' } })
  t.match(await create(null, 'b@b.co'), { status: 201, body: { tenant: null } })
  for (const wrong of ['', 'a b', 'ä', 'x'.repeat(65), 'a/b', 7]) {
    t.match(await create(wrong, 'c@b.co'), { status: 400, body: { code: 'SVC_INVALID_INPUT' } })
  }
})

t.test('an email is unique within a tenant', async (t) => {
  const { app } = await startHost(t)
  const create = (tenant: string | null, email = 'a@b.co') =>
    app.svc.auth.createUser({ email, name: 'A', tenant })
  const one = await create('acme')
  t.equal(one.email, 'a@b.co')
  await create('Acme')
  await create('globex')
  await create(null)
  for (const tenant of ['acme', null]) {
    await t.rejects(create(tenant, 'A@b.co'), { code: 'SVC_AUTH_EMAIL_TAKEN' })
  }
  t.same(
    (await app.svc.auth.listUsers({ tenant: 'acme' })).map(({ id }) => id),
    [one.id],
  )
})

t.test('the operator filters lists by tenant, and by none', async (t) => {
  const host = await startHost(t)
  const { ask } = host
  const acme = await keyOf(host, 'acme', ['read'])
  const globex = await keyOf(host, 'globex', ['read'])
  const none = await keyOf(host, null, ['read'])
  const keysOf = async (query: string) =>
    (await ask('GET', `/_auth/keys${query}`)).body.map(({ id }: { id: string }) => id)
  const usersOf = async (query: string) =>
    (await ask('GET', `/_auth/users${query}`)).body.map(({ id }: { id: string }) => id)

  t.same(await keysOf(''), [none.id, globex.id, acme.id])
  t.same(await keysOf('?tenant=acme'), [acme.id])
  t.same(await keysOf('?tenant='), [none.id])
  t.same(await keysOf('?tenant=nobody'), [])
  t.same(await usersOf('?tenant=globex'), [globex.userId])
  t.same(await usersOf('?tenant='), [none.userId])

  const keysOfAcme = async (query: string, key?: string) =>
    (await ask('GET', `/_auth/users/${acme.userId}/keys${query}`, key ? { key } : {})).body.length
  t.same(await keysOfAcme('?tenant=acme'), 1)
  t.same(await keysOfAcme('?tenant='), 0)
  t.same(await keysOfAcme('?tenant=globex'), 0)
  const own = await keyOf(host, 'acme', ['auth:manage'])
  t.same(await keysOfAcme('?tenant=acme', own.key), 1)
  t.same(await keysOfAcme('?tenant=globex', own.key), 0)
})

t.test('a key with a tenant lists and creates only rows of its tenant', async (t) => {
  const host = await startHost(t)
  const { ask } = host
  const { key } = await keyOf(host, 'acme', ['auth:manage'])
  const other = await keyOf(host, 'globex', ['read'])
  const operators = await keyOf(host, null, ['read'])

  const make = (body: object) => ask('POST', '/_auth/users', { key, body: { name: 'A', ...body } })
  const user = await make({ email: 'new@b.co' })
  t.match(user, { status: 201, body: { tenant: 'acme' } }, 'its own where none is named')
  t.match(await make({ email: 'n@b.co', tenant: 'acme' }), { status: 201 })
  t.match(await make({ email: 'o@b.co', tenant: 'globex' }), FOREIGN)
  t.match(await make({ email: 'o@b.co', tenant: null }), FOREIGN)

  const path = `/_auth/users/${user.body.id}/keys`
  t.match(await ask('POST', path, { key, body: { tenant: 'globex' } }), FOREIGN)
  t.match(await ask('POST', path, { key }), { status: 201, body: { tenant: 'acme' } })
  const { body: listed } = await ask('GET', '/_auth/keys', { key })
  t.same(new Set(listed.map(({ tenant }: { tenant: string }) => tenant)), new Set(['acme']))
  for (const query of ['?tenant=globex', '?tenant=', `?userId=${other.userId}`]) {
    t.same((await ask('GET', `/_auth/keys${query}`, { key })).body, [], query)
    t.equal((await ask('GET', `/_auth/keys?tenant=acme`, { key })).body.length, 2)
  }
  for (const { userId } of [other, operators]) {
    t.equal((await ask('GET', `/_auth/users/${userId}/keys`, { key })).status, 404)
    t.equal((await ask('POST', `/_auth/users/${userId}/keys`, { key })).status, 404)
  }
})

t.test('a key with a tenant and admin is bound to its tenant', async (t) => {
  const host = await startHost(t)
  const { ask } = host
  const { key, userId } = await keyOf(host, 'acme', ['admin'])
  const other = await keyOf(host, 'globex', ['read'])
  t.equal((await ask('DELETE', `/_auth/keys/${other.id}`, { key })).status, 404)
  t.equal((await ask('GET', '/_auth/users?tenant=globex', { key })).body.length, 0)
  const made = await ask('POST', `/_auth/users/${userId}/keys`, {
    key,
    body: { scopes: ['admin'] },
  })
  t.match(made, { status: 201, body: { tenant: 'acme', scopes: ['admin'] } })
})

t.test('a key with a tenant grants no management scope that it does not hold', async (t) => {
  const host = await startHost(t)
  const { ask } = host
  const { key, userId, id } = await keyOf(host, 'acme', ['auth:manage'])
  const path = `/_auth/users/${userId}/keys`
  for (const scope of ['admin', 'webhooks:manage', 'auth:verify', 'audit:read']) {
    const refused = { status: 403, body: { code: 'SVC_AUTH_SCOPE_NOT_GRANTABLE' } }
    const scopes = ['read', scope]
    t.match(await ask('POST', path, { key, body: { scopes } }), refused, scope)
    t.match(await ask('PATCH', `/_auth/keys/${id}`, { key, body: { scopes } }), refused, scope)
  }
  t.equal((await ask('POST', path, { key, body: { scopes: ['auth:manage'] } })).status, 201)
})

t.test('beyond maxKeysPerTenant a key is a 409, and what has ended does not count', async (t) => {
  const host = await startHost(t, { auth: { maxKeysPerTenant: 2 } })
  const { app, ask } = host
  const first = await keyOf(host, 'acme', ['read'])
  const path = `/_auth/users/${first.userId}/keys`
  const many = await Promise.all(Array.from({ length: 4 }, () => ask('POST', path)))
  t.same(many.map(({ status }) => status).toSorted(), [201, 409, 409, 409])
  const limit = { status: 409, body: { code: 'SVC_AUTH_LIMIT_REACHED' } }
  t.match(await ask('POST', path), limit)

  const rotated = await ask('POST', `/_auth/keys/${first.id}/rotate`)
  t.equal(rotated.status, 201, 'a rotation counts for no limit')
  t.match(await ask('POST', path), limit, 'nor does the key that was rotated')
  await app.svc.auth.revokeApiKey(rotated.body.id)
  t.match(await ask('POST', path), limit, 'without its successor that key counts')
  await app.svc.auth.revokeApiKey(first.id)
  t.equal((await ask('POST', path)).status, 201)

  const [counted] = await app.svc.auth.listApiKeys({ tenant: 'acme', state: 'active', limit: 1 })
  const expiresAt = '2999-01-01T00:00:00Z'
  await host.endKey(counted!.id)
  t.equal((await ask('POST', path)).status, 201, 'an expired key does not count')
  const revived = await ask('PATCH', `/_auth/keys/${counted?.id}`, { body: { expiresAt } })
  t.match(revived, limit, 'and is not revived beyond the limit')

  t.ok(await keyOf(host, 'globex', ['read']), 'another tenant has its own number')
  const operators = await keyOf(host, null, ['read'])
  for (let i = 0; i < 3; i++) await app.svc.auth.createApiKey({ userId: operators.userId })
})

t.test('a key that SQL makes, as an import does, has the tenant of its user', async (t) => {
  const host = await startHost(t, { after })
  const { app } = host
  const { userId, id } = await keyOf(host, 'acme', ['read'])
  const { rows } = await app.svc.database.query(
    `insert into svc."__svc.auth.api_keys" (id, user_id, key_hash, key_prefix, scopes)
     values (gen_random_uuid(), $1, repeat('a', 64), 'svc_aaaa', '{read}') returning tenant`,
    [userId],
  )
  t.same(rows, [{ tenant: 'acme' }])
  t.match(await app.svc.auth.getApiKey(id), { tenant: 'acme' })
})
