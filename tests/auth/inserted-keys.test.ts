import {
  isRejection,
  Keyring,
  UNKNOWN,
  type Finding,
} from '../../packages/auth/src/guard/keys/key-cache.ts'
import { findArrivals } from '../../packages/auth/src/tables/api-keys.ts'
import { knownKey } from '../../packages/auth/src/guard/keys/cached-key.ts'
import { digestOf, hexOf, mintKey } from '../../packages/auth/src/key-format.ts'
import t from 'tap'
import { startHost, type HostOptions } from './support/host.ts'
import { until } from './support/until.ts'

const after: NonNullable<HostOptions['after']> = (app) => void app.get('/me', async () => 'me')
const INSERT = `insert into svc."__svc.auth.api_keys"
  (id, user_id, key_hash, key_prefix, scopes, inserted_in)
  values (gen_random_uuid(), $1, $2, $3, '{read}', $4)`

t.test('a key whose row is imported after it was refused is known soon', async (t) => {
  const { app, ask, makeUser } = await startHost(t, { after })
  const { database } = app.svc
  const { id: userId } = await makeUser()
  // A restored dump brings the transaction of another time along.
  for (const insertedIn of [null, '3']) {
    const key = mintKey()
    const status = async () => (await ask('GET', '/me', { key })).status
    t.equal(await status(), 401)
    await database.query(INSERT, [userId, hexOf(digestOf(key)), key.slice(0, 8), insertedIn])
    await until(async () => (await status()) === 200)
    t.match(await app.svc.actions.call('__svc.auth.validateApiKey', key), { valid: true })
  }
})

t.test('so is one that an update gives to a row', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after })
  const { id } = await makeKey()
  const key = mintKey()
  const status = async () => (await ask('GET', '/me', { key })).status
  t.equal(await status(), 401)
  await app.svc.database.query('update svc."__svc.auth.api_keys" set key_hash = $2 where id = $1', [
    id,
    hexOf(digestOf(key)),
  ])
  await until(async () => (await status()) === 200)
})

t.test('no key that is made waits for another one', async (t) => {
  const { app, makeUser, makeKey } = await startHost(t)
  const { id: userId } = await makeUser()
  const slow = await app.svc.database.connect()
  await slow.query('begin')
  const key = mintKey()
  await slow.query(INSERT, [userId, hexOf(digestOf(key)), key.slice(0, 8), null])
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
    const digest = digestOf(mintKey())
    await db.query(INSERT, [userId, hexOf(digest), 'svc_test', null])
    return digest
  }
  await insert(database)
  const first = await findArrivals(database, null)
  t.equal(first.digests, null, 'all that was refused before may be there')
  const slow = await database.connect()
  await slow.query('begin')
  const late = await insert(slow)
  const early = await insert(database)
  const second = await findArrivals(database, first.snapshot)
  t.same(second.digests, [early])
  await slow.query('commit')
  slow.release()
  const third = await findArrivals(database, second.snapshot)
  t.same(third.digests, [late])
  t.same((await findArrivals(database, third.snapshot)).digests, [])

  await Promise.all(Array.from({ length: 1001 }, () => insert(database)))
  t.equal((await findArrivals(database, third.snapshot)).digests, null, 'too many to name')
  const future = '99999999:99999999:'
  t.equal((await findArrivals(database, future)).digests, null, 'a database that was set back')
})

t.test('a lookup that found no row is repeated when one was inserted meanwhile', async (t) => {
  const valid = knownKey({ userId: 'u', scopes: [], bootstrap: false, keyId: 'k' })
  const waiting: ((finding: Finding) => void)[] = []
  const keyring = new Keyring(() => new Promise((resolve) => void waiting.push(resolve)))
  const finding = keyring.find('d', 'minted')
  keyring.welcome(['d'])
  waiting.shift()?.(UNKNOWN)
  await until(() => waiting.length === 1)
  waiting.shift()?.(valid)
  t.equal(await finding, valid)

  const other = keyring.find('e', 'minted')
  waiting.shift()?.(UNKNOWN)
  t.ok(isRejection(await other))
  keyring.welcomeAll()
  const again = keyring.find('e', 'minted')
  await until(() => waiting.length === 1)
  waiting.shift()?.(valid)
  t.equal(await again, valid)
})
