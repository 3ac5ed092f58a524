/** `svc.auth.listTenants`, `listScopes` and `checkApiKey`. */
import t from 'tap'
import { startHost } from '../support/host.ts'

t.test('tenants are listed by name, with their users and keys, in pages', async (t) => {
  const { app } = await startHost(t)
  const { auth } = app.svc
  for (const [n, tenant] of ['b', 'a', 'b', null].entries()) {
    const user = await auth.createUser({ email: `${n}@example.com`, name: 'U', tenant })
    await auth.createApiKey({ userId: user.id })
  }
  const [first] = await auth.listApiKeys({ tenant: 'b' })
  await auth.revokeApiKey(first!.id)
  const all = [
    { tenant: 'a', users: 1, keys: 1 },
    { tenant: 'b', users: 2, keys: 1 },
  ]
  t.same(await auth.listTenants(), all)
  t.same(await auth.listTenants({ limit: 1 }), all.slice(0, 1))
  t.same(await auth.listTenants({ after: 'a' }), all.slice(1))
  t.same(await auth.as({ tenant: 'a' }).listTenants(), all.slice(0, 1))
})

t.test('checkApiKey decides about a key by its id as the guard does by its text', async (t) => {
  const { app } = await startHost(t, { auth: { scopes: ['bills'], roles: { clerk: ['bills'] } } })
  const { auth } = app.svc
  t.match(await auth.listScopes(), ['admin', 'read', 'write'])
  t.ok((await auth.listScopes()).includes('role:clerk'))
  const { id: userId } = await auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
  const { id } = await auth.createApiKey({ userId, scopes: ['role:clerk'] })
  const valid = { valid: true, code: null, keyId: id, userId, tenant: 'acme', scopes: ['bills'] }
  t.match(await auth.checkApiKey({ id }), valid)
  await auth.updateApiKey({ id, allowedIps: ['192.0.2.0/24'] })
  const elsewhere = { valid: false, code: 'SVC_AUTH_IP_NOT_ALLOWED', keyId: id }
  t.match(await auth.checkApiKey({ id }), elsewhere)
  t.match(await auth.checkApiKey({ id, ip: '198.51.100.1' }), elsewhere)
  t.match(await auth.checkApiKey({ id, ip: '192.0.2.1' }), valid)
  await auth.updateApiKey({ id, enabled: false })
  const invalid = { valid: false, code: 'SVC_AUTH_INVALID_KEY', keyId: null }
  t.match(await auth.checkApiKey({ id, ip: '192.0.2.1' }), invalid)
  t.match(await auth.checkApiKey({ id: 'nothing' }), invalid)
})
