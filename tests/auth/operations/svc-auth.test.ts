import t from 'tap'
import { EmailTaken, KeyNotFound, UserNotFound, type AuthOperations } from '@svc/auth'
import { InvalidInput, InvalidOption, NoTransaction } from '@svc/core'
import { freshDatabase } from '../../support/fresh-database.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { startHost } from '../support/host.ts'

const UNKNOWN = '0190a1b2-0000-7000-8000-000000000000'

t.test('svc.auth does what the routes do', async (t) => {
  const { app, ask } = await startHost(t)
  const { auth } = app.svc

  const user = await auth.createUser({ email: 'a@b.co', name: 'A' })
  t.match(user, { email: 'a@b.co', name: 'A', role: 'user', createdAt: String })
  t.same(await auth.getUser(user.id), user)
  t.same(await auth.listUsers(), [user])
  t.same((await ask('GET', '/_auth/users')).body, [user])

  const { key, ...created } = await auth.createApiKey({ userId: user.id, scopes: ['admin'] })
  t.match(created, { userId: user.id, scopes: ['admin'], keyPrefix: key.slice(0, 8) })
  const valid = { valid: true, userId: user.id, bootstrap: false, scopes: ['admin'], tenant: null }
  t.same(await auth.validateApiKey(key), { ...valid, keyId: created.id })
  const listed = await auth.listApiKeys(user.id)
  t.same((await ask('GET', `/_auth/users/${user.id}/keys`)).body, listed)

  t.equal(await auth.revokeApiKey(created.id), undefined)
  t.match(await auth.validateApiKey(key), { valid: false })
  t.equal(await auth.deleteUser(user.id), undefined)
  t.same(await auth.listUsers(), [])
})

t.test('the named actions are the same functions, and destructuring works', async (t) => {
  const { app } = await startHost(t)
  const { createUser, listUsers } = app.svc.auth
  const user = await createUser({ email: 'a@b.co', name: 'A' })
  t.same(await app.svc.actions.call('__svc.auth.listUsers'), [user])
  t.same(await listUsers(), [user])
  const { as: _, ...methods } = app.svc.auth
  t.same(
    app.svc.actions
      .names()
      .filter((name) => name.startsWith('__svc.auth.'))
      .toSorted(),
    Object.keys(methods)
      .map((name) => `__svc.auth.${name}`)
      .toSorted(),
  )
})

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

t.test('where the database is unavailable svc.auth rejects with Unavailable', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const { app } = await startHost(t, { database: proxy.url })
  const { auth } = app.svc
  proxy.cut()
  const calls: ((auth: AuthOperations) => Promise<unknown>)[] = [
    (auth) => auth.createUser({ email: 'a@b.co', name: 'A' }),
    (auth) => auth.listUsers(),
    (auth) => auth.revokeApiKey(UNKNOWN),
  ]
  for (const call of calls) {
    await t.rejects(call(auth), { code: 'SVC_UNAVAILABLE', statusCode: 503 })
  }
})
