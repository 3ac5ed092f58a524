import { UNKNOWN_KEY } from '../../../../packages/auth/src/guard/auth-failure.ts'
import {
  isFailure,
  KeyCache,
  type LookupResult,
} from '../../../../packages/auth/src/guard/keys/key-cache.ts'
import { findInsertedKeys } from '../../../../packages/auth/src/tables/inserted-keys.ts'
import { createCachedKey } from '../../../../packages/auth/src/guard/keys/cached-key.ts'
import { hashOf, hexOf, generateKey } from '../../../../packages/auth/src/key-format.ts'
import t from 'tap'
import { startHost, type HostOptions } from '../../support/host.ts'
import { until } from '../../../support/until.ts'

const after: NonNullable<HostOptions['after']> = (app) => void app.get('/me', async () => 'me')
const INSERT = `insert into svc."__svc.auth.api_keys"
  (id, user_id, key_hash, key_prefix, scopes, inserted_in)
  values (gen_random_uuid(), $1, $2, $3, '{read}', $4)`

t.test('a key whose row is imported after it was refused is accepted soon', async (t) => {
  const { app, ask, makeUser } = await startHost(t, { after })
  const { database } = app.svc
  const { id: userId } = await makeUser()
  // A restored dump brings the transaction of another time along.
  for (const insertedIn of [null, '3']) {
    const key = generateKey()
    const status = async () => (await ask('GET', '/me', { key })).status
    t.equal(await status(), 401)
    await database.query(INSERT, [userId, hexOf(hashOf(key)), key.slice(0, 8), insertedIn])
    await until(async () => (await status()) === 200)
    t.match(await app.svc.actions.call('__svc.auth.validateApiKey', key), { valid: true })
  }
})

t.test('a key whose hash an update gives to a row is accepted soon', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after })
  const { id } = await makeKey()
  const key = generateKey()
  const status = async () => (await ask('GET', '/me', { key })).status
  t.equal(await status(), 401)
  await app.svc.database.query('update svc."__svc.auth.api_keys" set key_hash = $2 where id = $1', [
    id,
    hexOf(hashOf(key)),
  ])
  await until(async () => (await status()) === 200)
})

t.test('making a key does not wait for another transaction that makes one', async (t) => {
  const { app, makeUser, makeKey } = await startHost(t)
  const { id: userId } = await makeUser()
  const slow = await app.svc.database.connect()
  await slow.query('begin')
  const key = generateKey()
  await slow.query(INSERT, [userId, hexOf(hashOf(key)), key.slice(0, 8), null])
  const { id } = await makeKey({ userId })
  await app.svc.actions.call('__svc.auth.revokeApiKey', id)
  await slow.query('rollback')
  slow.release()
})

t.test('insertions are read since a snapshot, late commits among them', async (t) => {
  const { app, makeUser } = await startHost(t)
  const { database } = app.svc
  const { id: userId } = await makeUser()
  const insert = async (db: { query: typeof database.query }): Promise<string> => {
    const hash = hashOf(generateKey())
    await db.query(INSERT, [userId, hexOf(hash), 'svc_test', null])
    return hash
  }
  await insert(database)
  const first = await findInsertedKeys(database, null)
  t.equal(first.hashes, null, 'all that was refused before may be there')
  const slow = await database.connect()
  await slow.query('begin')
  const late = await insert(slow)
  const early = await insert(database)
  const second = await findInsertedKeys(database, first.snapshot)
  t.same(second.hashes, [early])
  await slow.query('commit')
  slow.release()
  const third = await findInsertedKeys(database, second.snapshot)
  t.same(third.hashes, [late])
  t.same((await findInsertedKeys(database, third.snapshot)).hashes, [])

  await database.query(
    `insert into svc."__svc.auth.api_keys" (id, user_id, key_hash, key_prefix, scopes)
     select gen_random_uuid(), $1, md5(n::text) || md5(n::text), 'svc_test', '{read}'
       from generate_series(1, 1001) as n`,
    [userId],
  )
  t.equal((await findInsertedKeys(database, third.snapshot)).hashes, null, 'too many to name')
  const future = '99999999:99999999:'
  t.equal((await findInsertedKeys(database, future)).hashes, null, 'a database that was set back')
})

t.test('a lookup that found no row is repeated when one was inserted meanwhile', async (t) => {
  const valid = createCachedKey({
    userId: 'u',
    scopes: [],
    bootstrap: false,
    keyId: 'k',
    tenant: null,
  })
  const waiting: ((result: LookupResult) => void)[] = []
  const keyCache = new KeyCache(() => new Promise((resolve) => void waiting.push(resolve)))
  const result = keyCache.find('d', 'wellFormed')
  keyCache.forgetRejections(['d'])
  waiting.shift()?.(UNKNOWN_KEY)
  await until(() => waiting.length === 1)
  waiting.shift()?.(valid)
  t.equal(await result, valid)

  const other = keyCache.find('e', 'wellFormed')
  waiting.shift()?.(UNKNOWN_KEY)
  t.ok(isFailure(await other))
  keyCache.forgetAllRejections()
  const again = keyCache.find('e', 'wellFormed')
  await until(() => waiting.length === 1)
  waiting.shift()?.(valid)
  t.equal(await again, valid)
})
