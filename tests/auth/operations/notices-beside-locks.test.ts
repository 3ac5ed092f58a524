/** Notices of keys while a long transaction of the host has locked the rows of some. */
import t, { type Test } from 'tap'
import {
  publishExpiryNotices,
  publishUnusedNotices,
} from '../../../packages/auth/src/operations/key-ageing.ts'
import { expire, hostWithContext, published } from '../support/key-ageing.ts'
import { sessionOn } from '../../support/session.ts'

const KEYS = 'svc."__svc.auth.api_keys"'

/** Locks the rows of these keys; the answer ends the transaction that did. */
async function lockRows(t: Test, database: string, ids: string[]): Promise<() => Promise<void>> {
  const client = await sessionOn(t, database)
  await client.query('begin')
  await client.query(`select from ${KEYS} where id = any($1) for update`, [ids])
  return async () => void (await client.query('rollback'))
}

const told = async ({ app }: Awaited<ReturnType<typeof hostWithContext>>, name: string) =>
  (await published(app, name)).map(({ payload }) => payload['keyId'] as string)

t.test('a key whose row is locked holds up no notice of another key', async (t) => {
  const host = await hostWithContext(t)
  const { app, database, context, makeKey } = host
  const [locked, ended, alsoEnded] = [await makeKey(), await makeKey(), await makeKey()]
  // By the end of a key: the locked one comes first in each run.
  await expire(app, locked.id, '3 hours')
  await expire(app, ended.id, '2 hours')
  await expire(app, alsoEnded.id, '1 hour')
  const [lockedToo, ending] = [await makeKey(), await makeKey()]
  await expire(app, lockedToo.id, '-1 day')
  await expire(app, ending.id, '-2 days')
  const unlock = await lockRows(t, database, [locked.id, lockedToo.id])

  await publishExpiryNotices(context, [7])
  t.same(await told(host, 'expired'), [ended.id, alsoEnded.id])
  t.same(await told(host, 'expiring'), [ending.id])
  await unlock()
  await publishExpiryNotices(context, [7])
  t.same((await told(host, 'expired')).slice(2), [locked.id], 'the next run finds it')
  t.same((await told(host, 'expiring')).slice(1), [lockedToo.id])
})

t.test('an unused key has its event also where that of a locked one has to wait', async (t) => {
  const host = await hostWithContext(t)
  const { app, database, context, makeKey } = host
  const [locked, idle] = [await makeKey(), await makeKey()]
  await app.svc.database.query(`update ${KEYS} set created_at = now() - interval '100 days'`)
  const unlock = await lockRows(t, database, [locked.id])

  await publishUnusedNotices(context, 90)
  t.same(await told(host, 'unused'), [idle.id])
  await unlock()
  await publishUnusedNotices(context, 90)
  t.same((await told(host, 'unused')).slice(1), [locked.id])
})

t.test('more locked keys than a statement finds hold up nothing', async (t) => {
  const host = await hostWithContext(t)
  const { app, database, context, makeKey } = host
  const free = await makeKey()
  await expire(app, free.id, '1 minute')
  const { rows } = await app.svc.database.query(
    `insert into ${KEYS} (id, user_id, key_hash, key_prefix, scopes, created_at, expires_at)
     select gen_random_uuid(), $1, md5(n::text) || md5(n::text), 'svc_abcd', '{read}',
            now() - interval '1 day', now() - interval '1 hour'
       from generate_series(1, 205) as n
     returning id`,
    [free.userId],
  )
  const unlock = await lockRows(
    t,
    database,
    rows.map(({ id }) => id),
  )
  await publishExpiryNotices(context, [])
  t.same(await told(host, 'expired'), [free.id])
  await unlock()
  await publishExpiryNotices(context, [])
  t.equal((await told(host, 'expired')).length, 206)
})
