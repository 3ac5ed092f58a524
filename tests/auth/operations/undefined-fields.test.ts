/** A host passes on what a body of its own may lack: `expiresAt: body.expiresAt`. */
import t from 'tap'
import type { KeyUpdate, NewApiKey } from '@svc/auth'
import { startHost } from '../support/host.ts'

const DAY_MS = 86_400_000
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()

const RESTRICTED = {
  label: 'of a customer',
  scopes: ['read'],
  expiresAt: inDays(5),
  enabled: false,
  metadata: { plan: 'free' },
  allowedIps: ['192.0.2.0/24'],
  limits: [{ limit: 10, perSeconds: 60 }],
  quota: { limit: 100, period: 'day' as const },
}
const NO_FIELDS = Object.fromEntries(Object.keys(RESTRICTED).map((field) => [field, undefined]))

t.test('a field of a key that is given as undefined stays as it is', async (t) => {
  const { app, makeUser } = await startHost(t)
  const { auth } = app.svc
  const { id: userId } = await makeUser()
  const { id } = await auth.createApiKey({ userId, ...RESTRICTED })
  const before = await auth.getApiKey(id)
  const audited = await app.svc.audit.list()

  for (const field of Object.keys(RESTRICTED)) {
    const changed = await auth.updateApiKey({ id, [field]: undefined })
    t.same(changed, before, field)
  }
  t.same(await auth.updateApiKey({ id, ...NO_FIELDS }), before, 'all at once')
  t.same(await auth.getApiKey(id), before)
  t.same(await app.svc.audit.list(), audited, 'nothing was changed')

  const change = { id, ...NO_FIELDS, label: 'new' } as KeyUpdate
  t.same(await auth.updateApiKey(change), { ...before, label: 'new' })
  t.same(change, { id, ...NO_FIELDS, label: 'new' }, "the caller's object is left alone")
  t.match(await auth.updateApiKey({ id, limits: null }), { limits: null }, 'null still resets')
})

t.test('a new key gets the default of a field that is given as undefined', async (t) => {
  const { app, makeUser } = await startHost(t)
  const { auth } = app.svc
  const { id: userId } = await makeUser()
  const {
    id: _id,
    key: _key,
    keyPrefix: _prefix,
    createdAt: _at,
    ...plain
  } = await auth.createApiKey({ userId })
  for (const field of [...Object.keys(RESTRICTED), 'tenant']) {
    t.match(await auth.createApiKey({ userId, [field]: undefined }), plain, field)
  }
})

t.test('an undefined expiry does not lift the longest lifetime', async (t) => {
  const { app, makeUser } = await startHost(t, { auth: { maxKeyLifetimeDays: 30 } })
  const { auth } = app.svc
  const { id: userId } = await makeUser()
  const given = { userId, expiresAt: undefined } as never as NewApiKey
  const { id, expiresAt } = await auth.createApiKey(given)
  t.ok(expiresAt && expiresAt <= inDays(30), String(expiresAt))
  const changed = await auth.updateApiKey({ id, label: 'x', expiresAt: undefined })
  t.equal(changed.expiresAt, expiresAt)
})

t.test('a rotated key is not prolonged by an undefined expiry', async (t) => {
  const { app, makeKey } = await startHost(t)
  const { auth } = app.svc
  const { id } = await makeKey()
  await auth.rotateApiKey({ id, overlapSeconds: undefined })
  const { expiresAt } = await auth.getApiKey(id)
  t.ok(expiresAt && expiresAt <= inDays(1), 'the overlap has its default')
  await auth.updateApiKey({ id, label: 'old', expiresAt: undefined })
  t.equal((await auth.getApiKey(id)).expiresAt, expiresAt)
})

t.test('other operations take an undefined field as one that is left out', async (t) => {
  const { app } = await startHost(t)
  const { auth } = app.svc
  const user = await auth.createUser({
    email: 'a@b.co',
    name: 'A',
    role: undefined,
    tenant: undefined,
  })
  t.match(user, { role: 'user', tenant: null })
  const { id, key } = await auth.createApiKey({ userId: user.id })
  const keys = await auth.listApiKeys(user.id)
  const nothing = { userId: undefined, prefix: undefined, state: undefined, tenant: undefined }
  t.same(await auth.listApiKeys({ ...nothing, unusedSince: undefined, limit: undefined }), keys)
  t.same(await auth.listApiKeys(user.id, { after: undefined, limit: undefined }), keys)
  t.same(await auth.listUsers({ tenant: undefined }), [user])
  const verified = { valid: true, keyId: id, remaining: null }
  const verification = { key, scopes: undefined, ip: undefined, cost: undefined } as never
  t.match(await auth.verifyApiKey(verification), verified)
  t.match(await auth.checkApiKey({ id, ip: undefined }), { valid: true, keyId: id })
  const span = { from: undefined, to: undefined, by: undefined, keyId: undefined } as never
  t.match(await auth.getUsage(span), { by: 'hour' })
})
