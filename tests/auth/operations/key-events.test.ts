import t from 'tap'
import type { FastifyInstance } from 'fastify'
import {
  publishExpiryNotices,
  publishUnusedNotices,
} from '../../../packages/auth/src/operations/key-ageing.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'
import { expire, hostWithContext, published, type Seen } from '../support/key-ageing.ts'

const NAMES = ['created', 'rotated', 'revoked', 'expiring', 'expired', 'unused', 'leaked']

/** Writes down what is published of keys. */
async function watchEvents(app: FastifyInstance): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const name of NAMES) {
    await app.svc.events.subscribe(`svc.key.${name}`, (payload, event) => {
      seen.push({ name: event.name.slice('svc.key.'.length), payload })
    })
  }
  return seen
}

t.test(
  'changes of keys are published in their transactions, without the text of a key',
  async (t) => {
    let seen: Seen[] = []
    const { app, makeUser } = await startHost(t, {
      core: { worker: { enabled: true } },
      after: async (app) => {
        await app.after()
        seen = await watchEvents(app)
      },
    })
    const { auth } = app.svc
    const { id: userId } = await makeUser()
    const { id: keyId, key, keyPrefix } = await auth.createApiKey({ userId, label: 'CI' })
    const next = await auth.rotateApiKey({ id: keyId })
    await auth.revokeApiKey(keyId)
    await auth.deleteUser(userId)
    const rolledBack = app.svc.transaction(async (db) => {
      await auth.createUser({ email: 'a@b.co', name: 'A' }, { db })
      throw new Error('no')
    })
    await t.rejects(rolledBack, { message: 'no' })

    await until(() => seen.length === 4)
    const facts = { keyId, userId, keyPrefix, label: 'CI', tenant: null }
    t.same(seen.map(({ name }) => name).toSorted(), ['created', 'revoked', 'revoked', 'rotated'])
    t.match(seen.find(({ name }) => name === 'created')?.payload, facts)
    t.match(seen.find(({ name }) => name === 'rotated')?.payload, { ...facts, replacedBy: next.id })
    t.notOk(JSON.stringify(seen).includes(key.slice(8, 20)))
  },
)

t.test('a host subscribes to our events and does not publish them', async (t) => {
  const { app } = await startHost(t)
  for (const name of ['svc.key.created', 'svc.mine']) {
    await t.rejects(app.svc.events.publish(name, {}), {
      code: 'SVC_CORE_RESERVED_EVENT_NAME',
      statusCode: 500,
    })
  }
  t.ok(await app.svc.events.publish('svcx.mine', {}))
})

t.test('each key has one event before it expires and one when it has expired', async (t) => {
  const host = await hostWithContext(t)
  const { app, context, makeKey } = host
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000).toISOString()
  const far = await makeKey({ expiresAt: inDays(40) })
  const near = await makeKey({ expiresAt: inDays(6) })
  const month = await makeKey({ expiresAt: inDays(20) })
  await makeKey()
  const revoked = await makeKey({ expiresAt: inDays(6) })
  await app.svc.auth.revokeApiKey(revoked.id)

  await Promise.all([1, 2, 3].map(() => publishExpiryNotices(context, [30, 7, 1])))
  await publishExpiryNotices(context, [1, 7, 30])
  const told = async (...names: string[]) =>
    (await published(app, ...names)).map(({ payload }) => [payload['keyId'], payload['daysLeft']])
  t.same(
    new Set(await told('expiring')),
    new Set([
      [near.id, 7],
      [month.id, 30],
    ]),
  )
  t.equal((await told('expiring')).length, 2)

  await expire(app, far.id, '1 minute')
  await app.svc.database.query(
    `update svc."__svc.auth.api_keys" set expires_at = created_at - interval '1 hour' where id = $1`,
    [near.id],
  )
  await publishExpiryNotices(context, [30])
  await publishExpiryNotices(context, [30])
  t.same(
    await told('expired'),
    [[far.id, undefined]],
    'a key that had expired when its row was made is no news',
  )
  t.match(await app.svc.audit.list({ action: 'key.expire' }), [
    { target: { kind: 'key', id: far.id }, actor: { kind: 'system', keyId: null } },
  ])
})

t.test('a key whose expiry is moved to later has its events again', async (t) => {
  const host = await hostWithContext(t)
  const { app, context, makeKey } = host
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000).toISOString()
  const told = async () =>
    (await published(app, 'expiring', 'expired')).map(({ name, payload }) => [
      name.slice('svc.key.'.length),
      payload['daysLeft'],
    ])
  const { id } = await makeKey({ expiresAt: inDays(6) })
  await publishExpiryNotices(context, [30, 7])
  await app.svc.auth.updateApiKey({ id, label: 'the same expiry' })
  await publishExpiryNotices(context, [30, 7])
  t.same(await told(), [['expiring', 7]])

  await app.svc.auth.updateApiKey({ id, expiresAt: inDays(20) })
  await publishExpiryNotices(context, [30, 7])
  t.same((await told()).slice(1), [['expiring', 30]])
  await expire(app, id, '1 minute')
  await publishExpiryNotices(context, [30, 7])
  await app.svc.auth.updateApiKey({ id, expiresAt: null })
  await expire(app, id, '1 minute')
  await publishExpiryNotices(context, [30, 7])
  t.same((await told()).slice(2), [
    ['expired', undefined],
    ['expired', undefined],
  ])
  t.equal((await app.svc.audit.list({ action: 'key.expire' })).length, 2)
})

t.test('an unused key has one event, and another one after its next use', async (t) => {
  const host = await hostWithContext(t)
  const { app, context, makeKey } = host
  const idle = await makeKey()
  await makeKey()
  const unusedFor = (days: number) =>
    app.svc.database.query(
      `update svc."__svc.auth.api_keys" set last_used_at = now() - make_interval(days => $2)
        where id = $1`,
      [idle.id, days],
    )
  await unusedFor(100)
  await Promise.all([1, 2].map(() => publishUnusedNotices(context, 90)))
  await publishUnusedNotices(context, 90)
  t.match(await published(app, 'unused'), [{ payload: { keyId: idle.id, unusedDays: 90 } }])
  await unusedFor(91)
  await publishUnusedNotices(context, 90)
  t.equal((await published(app, 'unused')).length, 2)
})

t.test('an imported key counts as unused from its import on', async (t) => {
  const host = await hostWithContext(t)
  const { app, context, makeUser } = host
  const { id: userId } = await makeUser()
  const createdAt = '2020-01-01T00:00:00Z'
  await app.svc.auth.importApiKeys([{ userId, sha256: '0'.repeat(64), createdAt }])
  await publishUnusedNotices(context, 90)
  t.same(await published(app, 'unused'), [])
  await app.svc.database.query(
    `update svc."__svc.auth.api_keys" set imported_at = now() - interval '91 days'`,
  )
  await publishUnusedNotices(context, 90)
  t.match(await published(app, 'unused'), [{ payload: { userId, unusedDays: 90 } }])
})

t.test('no key lives longer than maxKeyLifetimeDays', async (t) => {
  const { app, ask, makeKey, makeUser } = await startHost(t, { auth: { maxKeyLifetimeDays: 90 } })
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000).toISOString()
  const tooLong = { status: 400, body: { code: 'SVC_AUTH_LIFETIME_TOO_LONG' } }
  const path = `/_auth/users/${(await makeUser()).id}/keys`
  t.match(await ask('POST', path, { body: { expiresAt: inDays(91) } }), tooLong)
  t.equal((await ask('POST', path, { body: { expiresAt: inDays(89) } })).status, 201)
  const { body } = await ask('POST', path, { body: { expiresAt: null } })
  const lifeOf = (key: { expiresAt: string; createdAt: string }) =>
    Math.round((Date.parse(key.expiresAt) - Date.parse(key.createdAt)) / (24 * 3600_000))
  t.equal(lifeOf(body), 90)
  const { id } = await makeKey({ expiresAt: inDays(5) })
  t.match(await ask('PATCH', `/_auth/keys/${id}`, { body: { expiresAt: inDays(91) } }), tooLong)
  t.equal(lifeOf((await ask('PATCH', `/_auth/keys/${id}`, { body: { expiresAt: null } })).body), 90)
  const briefly = inDays(5)
  const brief = await makeKey({ scopes: ['admin'], expiresAt: briefly })
  const { body: made } = await ask('POST', path, { key: brief.key })
  t.equal(Date.parse(made.expiresAt), Date.parse(briefly), 'no longer than the key that made it')
  // A key from before the option, which is older than that.
  await app.svc.database.query(
    `update svc."__svc.auth.api_keys" set created_at = now() - interval '91 days' where id = $1`,
    [id],
  )
  for (const expiresAt of [null, inDays(1)]) {
    t.match(await ask('PATCH', `/_auth/keys/${id}`, { body: { expiresAt } }), tooLong)
  }
  t.equal((await ask('PATCH', `/_auth/keys/${id}`, { body: { label: 'x' } })).status, 200)
})
