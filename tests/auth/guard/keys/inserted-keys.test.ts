import { UNKNOWN_KEY } from '../../../../packages/auth/src/guard/auth-failure.ts'
import {
  createCachedKey,
  isFailure,
  KeyCache,
} from '../../../../packages/auth/src/guard/keys/key-cache.ts'
import { hashOf, hexOf, generateKey } from '../../../../packages/auth/src/key-format.ts'
import t from 'tap'
import { startHost, withMe } from '../../support/host.ts'
import { until } from '../../../support/until.ts'

const INSERT = `insert into svc."__svc.auth.api_keys"
  (id, user_id, key_hash, key_prefix, scopes)
  values (gen_random_uuid(), $1, $2, $3, '{read}')`

t.test('a key whose row is imported after it was refused is accepted soon', async (t) => {
  const { app, ask, makeUser } = await startHost(t, { after: withMe })
  const { database } = app.svc
  const { id: userId } = await makeUser()
  const key = generateKey()
  const status = async () => (await ask('GET', '/me', { key })).status
  t.equal(await status(), 401)
  await database.query(INSERT, [userId, hexOf(hashOf(key)), key.slice(0, 8)])
  await until(async () => (await status()) === 200)
  t.match(await app.svc.actions.call('__svc.auth.validateApiKey', key), { valid: true })
})

t.test('a key whose hash an update gives to a row is accepted soon', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
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
  await slow.query(INSERT, [userId, hexOf(hashOf(key)), key.slice(0, 8)])
  const { id } = await makeKey({ userId })
  await app.svc.actions.call('__svc.auth.revokeApiKey', id)
  await slow.query('rollback')
  slow.release()
})

t.test('a key without a row is looked up once in 0.9 s', async (t) => {
  const valid = createCachedKey({
    userId: 'u',
    scopes: [],
    bootstrap: false,
    keyId: 'k',
    tenant: null,
  })
  let [now, lookups, isInserted] = [1000, 0, false]
  const lookUp = async () => {
    lookups++
    // What is inserted after the statement was sent may not be in its answer.
    now += 50
    return isInserted ? valid : UNKNOWN_KEY
  }
  const keyCache = new KeyCache(lookUp, () => now)
  const find = () => keyCache.find('d', { text: 'key', format: 'wellFormed' })
  t.ok(isFailure(await find()))
  isInserted = true
  now += 849
  t.ok(isFailure(await find()))
  t.equal(lookups, 1)
  now += 1
  t.equal(await find(), valid)
  t.equal(lookups, 2)
})
