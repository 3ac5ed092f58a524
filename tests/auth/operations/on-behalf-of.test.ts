/** `svc.auth.as`: the operations within a tenant, with the actor in the audit. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { InvalidInput } from '@svc/core'
import { startHost } from '../support/host.ts'

t.test('keys are given what the scopes allow: read and write, where none are named', async (t) => {
  const { app } = await startHost(t, { auth: { scopes: ['billing'] } })
  const { auth } = app.svc
  const actor = { kind: 'console', keyId: null, userId: 'ada' } as const
  const by = auth.as({ tenant: 'acme', actor, requestId: 'req-1', ip: '::1' })
  const { id: userId, tenant } = await by.createUser({ email: 'a@b.co', name: 'A' })
  t.equal(tenant, 'acme')
  const { id } = await by.createApiKey({ userId })
  for (const scopes of [['admin'], ['auth:manage'], ['webhooks:manage'], ['billing']]) {
    const refused = { code: 'SVC_AUTH_SCOPE_NOT_GRANTABLE' }
    await t.rejects(by.createApiKey({ userId, scopes }), refused)
    await t.rejects(by.updateApiKey({ id, scopes }), refused)
  }
  const more = auth.as({ tenant: 'acme', scopes: ['billing'] })
  t.same((await more.createApiKey({ userId, scopes: ['billing'] })).scopes, ['billing'])
  t.match(await app.svc.audit.list({ target: id }), [
    { action: 'key.create', actor, requestId: 'req-1', ip: '::1', tenant: 'acme' },
  ])
})

t.test(
  'an operation on behalf of a key has the scopes of the key, whatever scopes are named',
  async (t) => {
    const { app } = await startHost(t)
    const { auth } = app.svc
    const user = await auth.createUser({ email: 'a@b.co', name: 'A' })
    const { id: keyId } = await auth.createApiKey({ userId: user.id, scopes: ['auth:manage'] })
    const actor = { kind: 'console', keyId, userId: user.id } as const
    const by = auth.as({ tenant: null, actor, scopes: ['admin'] })
    await t.rejects(by.createApiKey({ userId: user.id, scopes: ['admin'] }), {
      code: 'SVC_AUTH_SCOPE_NOT_GRANTABLE',
    })
    t.ok(await by.createApiKey({ userId: user.id, scopes: ['auth:manage'] }))
    const operator = auth.as({ tenant: null })
    t.ok(await operator.createApiKey({ userId: user.id, scopes: ['admin'] }))
  },
)

t.test('a key that was revoked or disabled makes and changes no keys', async (t) => {
  const { app } = await startHost(t)
  const { auth } = app.svc
  const user = await auth.createUser({ email: 'a@b.co', name: 'A' })
  const { id } = await auth.createApiKey({ userId: user.id })
  for (const end of [
    (keyId: string) => auth.revokeApiKey(keyId),
    (keyId: string) => auth.updateApiKey({ id: keyId, enabled: false }),
  ]) {
    const { id: keyId } = await auth.createApiKey({ userId: user.id, scopes: ['admin'] })
    const actor = { kind: 'key', keyId, userId: user.id } as const
    const by = auth.as({ tenant: null, actor })
    t.ok(await by.createApiKey({ userId: user.id }))
    await end(keyId)
    const refused = { code: 'SVC_AUTH_INVALID_KEY' }
    await t.rejects(by.createApiKey({ userId: user.id }), refused)
    await t.rejects(by.updateApiKey({ id, label: 'mine' }), refused)
    await t.rejects(by.rotateApiKey({ id }), refused)
  }
})

t.test('svc.auth.as refuses a tenant that is missing, empty or malformed', async (t) => {
  const { app } = await startHost(t)
  for (const tenant of [undefined, '', 'a b']) {
    t.throws(() => app.svc.auth.as({ tenant: tenant as never }), InvalidInput)
  }
})

t.test(
  'an actor that the audit could not keep, or not find again, is refused by name',
  async (t) => {
    const { app } = await startHost(t)
    const { auth } = app.svc
    const actor = { kind: 'process', userId: null, keyId: null } as const
    const incompressible = randomBytes(3000).toString('hex')
    for (const [wrong, message] of [
      [{ ...actor, userId: incompressible }, /actor\.userId must be 1 to 200 characters/],
      [{ ...actor, userId: '' }, /actor\.userId/],
      [{ ...actor, userId: 'a\0b' }, /actor\.userId/],
      [{ ...actor, userId: '\ud83d' }, /actor\.userId/],
      [{ ...actor, userId: 7 }, /actor\.userId/],
      [{ ...actor, keyId: incompressible }, /actor\.keyId must be the id of a key/],
      [{ ...actor, kind: incompressible }, /actor\.kind must be one of key, bootstrap/],
      [null, /actor must be an object/],
    ] as [never, RegExp][]) {
      t.throws(() => auth.as({ tenant: null, actor: wrong }), {
        code: 'SVC_INVALID_INPUT',
        message,
      })
    }
    const userId = '\u{1f600}'.repeat(100)
    const by = auth.as({
      tenant: null,
      actor: { ...actor, userId },
      requestId: `a\0${incompressible}`,
      ip: 'a\0b',
    })
    await by.createUser({ email: 'a@b.co', name: 'A' })
    t.match(await app.svc.audit.list({ actor: userId }), [{ actor: { userId }, ip: 'a\ufffdb' }])
  },
)
