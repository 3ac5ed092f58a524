import t from 'tap'
import { EmailTaken, KeyNotFound, UserNotFound } from '@svc/auth'
import { InvalidInput, InvalidOption, NoTransaction } from '@svc/core'
import { BOOTSTRAP_KEY, startHost } from '../support/host.ts'

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000'

t.test('a user and its key are written in the transaction of the caller', async (t) => {
  const { app } = await startHost(t)
  const { auth, actions, database } = app.svc
  const db = await database.connect()
  t.teardown(() => db.release())

  await db.query('begin')
  const user = await auth.createUser({ email: 'a@b.co', name: 'A' }, { db })
  const { key } = await auth.createApiKey({ userId: user.id }, { db })
  t.same(await auth.listUsers(), [], 'nobody else sees them yet')
  await db.query('rollback')
  t.same(await auth.listUsers(), [])
  t.match(await auth.validateApiKey(key), { valid: false })

  await db.query('begin')
  const kept = await actions.call('__svc.auth.createUser', { email: 'a@b.co', name: 'A' }, { db })
  const { id } = await actions.call('__svc.auth.createApiKey', { userId: kept.id }, { db })
  await db.query('commit')
  t.match(await auth.listApiKeys(kept.id), [{ id }])

  await db.query('begin')
  await t.rejects(auth.createUser({ email: 'A@B.co', name: 'A' }, { db }), EmailTaken)
  await t.rejects(auth.deleteUser(UNKNOWN, { db }), UserNotFound)
  await t.rejects(auth.revokeApiKey(UNKNOWN, { db }), KeyNotFound)
  t.match(await auth.createUser({ email: 'b@b.co', name: 'B' }, { db }), { name: 'B' })
  await db.query('commit')
  t.equal((await auth.listUsers()).length, 2, 'a refused input does not end the transaction')
})

t.test('a wrong input, option or db is an error that names the function', async (t) => {
  const { app } = await startHost(t)
  const { auth, database } = app.svc
  const client = await database.connect()
  t.teardown(() => client.release())
  const user = { email: 'a@b.co', name: 'A' }
  const knex = { raw() {}, select() {}, from() {}, client: {} }

  const rows: [call: () => Promise<unknown>, error: new (...args: never) => Error, text: RegExp][] =
    [
      [() => auth.createUser({ ...user, admin: true } as never), InvalidInput, /admin/],
      [() => auth.getUser(5 as never), InvalidInput, /string/],
      [() => auth.createUser(user, 5 as never), InvalidOption, /svc\.auth\.createUser.*object/],
      [() => auth.createUser(user, { bd: client } as never), InvalidOption, /createUser.*"bd"/],
      [() => auth.createUser(user, { db: null as never }), NoTransaction, /createUser.*null/],
      [() => auth.createUser(user, { db: database }), NoTransaction, /createUser.*a pool/],
      [() => auth.revokeApiKey(UNKNOWN, { db: client }), NoTransaction, /outside a transaction/],
      [() => auth.deleteUser(UNKNOWN, { db: knex as never }), NoTransaction, /knex/],
      [
        () => auth.createApiKey({ userId: UNKNOWN }, { db: {} as never }),
        NoTransaction,
        /svc\.auth\.createApiKey/,
      ],
    ]
  for (const [call, error, text] of rows) {
    const reason = await call().then(
      () => t.fail('it was accepted'),
      (why: unknown) => why,
    )
    t.ok(reason instanceof error, `${reason} is ${error.name}`)
    t.match(reason, { message: text })
  }
  t.same(await auth.listUsers(), [])
})

t.test('validateApiKey returns the owner of a key, and rejects without a valid one', async (t) => {
  const { app, makeKey } = await startHost(t)
  const { actions } = app.svc
  const { id, key, userId } = await makeKey({ scopes: ['read'] })
  const invalid = {
    valid: false,
    userId: null,
    bootstrap: false,
    scopes: [],
    keyId: null,
    tenant: null,
  }

  const valid = { valid: true, userId, bootstrap: false, scopes: ['read'], keyId: id, tenant: null }
  t.same(await actions.call('__svc.auth.validateApiKey', key), valid)
  t.same(await actions.call('__svc.auth.validateApiKey', BOOTSTRAP_KEY), {
    valid: true,
    userId: null,
    bootstrap: true,
    scopes: ['admin'],
    keyId: null,
    tenant: null,
  })
  for (const bad of ['', 'x', `${key}0`, 'ü', 'x'.repeat(100_000), undefined, null, {}, 7]) {
    t.same(await actions.call('__svc.auth.validateApiKey', bad as string), invalid)
  }
  await actions.call('__svc.auth.revokeApiKey', id)
  t.same(await actions.call('__svc.auth.validateApiKey', key), invalid)
})
