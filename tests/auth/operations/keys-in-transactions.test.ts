import { setImmediate } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import type { Test as Tap } from 'tap'
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost, statusOf, withMe } from '../support/host.ts'
import { areDecidedFromMemory } from '../support/statements.ts'
import { until } from '../../support/until.ts'

/** A host, a second one on the same database, and a transaction of the application's own. */
async function hostsAndTransaction(t: Tap) {
  const database = await freshDatabase(t)
  const here = await startHost(t, { after: withMe, database })
  const there = await startHost(t, { after: withMe, database })
  const db = await here.app.svc.database.connect()
  t.teardown(() => db.release())
  await db.query('begin')
  return { here, there, db, auth: here.app.svc.auth }
}

t.test('a revocation in a transaction holds from its commit on, here at once', async (t) => {
  const { here, there, db, auth } = await hostsAndTransaction(t)
  const { id, key } = await here.makeKey()
  for (const host of [here, there]) t.equal(await statusOf(host, key), 200)

  await auth.revokeApiKey(id, { db })
  for (const host of [here, there]) t.equal(await statusOf(host, key), 200, 'it is not committed')
  await db.query('commit')
  t.equal(await statusOf(here, key), 401)
  await until(async () => (await statusOf(there, key)) === 401)
})

t.test('a revocation that is rolled back changes nothing', async (t) => {
  const { here, there, db, auth } = await hostsAndTransaction(t)
  const { id, key } = await here.makeKey()
  for (const host of [here, there]) t.equal(await statusOf(host, key), 200)

  await auth.revokeApiKey(id, { db })
  await db.query('rollback')
  for (const host of [here, there]) t.equal(await statusOf(host, key), 200)
  await areDecidedFromMemory(here, key)
  t.equal(await statusOf(here, key), 200)

  await auth.revokeApiKey(id)
  t.equal(await statusOf(here, key), 401)
})

t.test(
  'a key under constant requests is refused from the commit of its revocation on',
  async (t) => {
    const { here, db, auth } = await hostsAndTransaction(t)
    const { id, key } = await here.makeKey()
    let isCommitted = false
    let isOver = false
    const late: number[] = []
    const asking = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const isDue = isCommitted
        const status = await statusOf(here, key)
        if (isDue) late.push(status)
        // What is decided from memory takes no turn of the event loop: the transaction's statements
        // would wait for seconds, until they are given up.
        await setImmediate()
      }
    })
    await auth.revokeApiKey(id, { db })
    for (let i = 0; i < 20; i++) await statusOf(here, key)
    await db.query('commit')
    isCommitted = true
    for (let i = 0; i < 20; i++) t.equal(await statusOf(here, key), 401)
    // Those under way at the commit may have begun before it.
    await until(() => late.length >= asking.length)
    isOver = true
    await Promise.all(asking)
    t.strictSame([...new Set(late)], [401])
  },
)

t.test('the keys of a user deleted in a transaction are refused from its commit on', async (t) => {
  const { here, db, auth } = await hostsAndTransaction(t)
  const first = await here.makeKey()
  const second = await here.makeKey({ userId: first.userId })
  const keys = [first.key, second.key]
  for (const key of keys) t.equal(await statusOf(here, key), 200)

  await auth.deleteUser(first.userId, { db })
  for (const key of keys) t.equal(await statusOf(here, key), 200)
  await db.query('commit')
  for (const key of keys) t.equal(await statusOf(here, key), 401)
})

t.test('a key that was made in a transaction is valid from its commit on', async (t) => {
  const { here, db, auth } = await hostsAndTransaction(t)
  const user = await auth.createUser({ email: 'a@b.co', name: 'A' }, { db })
  const { key } = await auth.createApiKey({ userId: user.id }, { db })
  t.equal(await statusOf(here, key), 401)
  await db.query('commit')
  t.equal(await statusOf(here, key), 200, 'its refusal was not remembered')
  await areDecidedFromMemory(here, key)
})

t.test('a revocation whose transaction loses its connection changes nothing', async (t) => {
  const { here, auth } = await hostsAndTransaction(t)
  const { database } = here.app.svc
  const { id, key } = await here.makeKey()
  t.equal(await statusOf(here, key), 200)

  const client: PoolClient = await database.connect()
  client.on('error', () => {})
  await client.query('begin')
  await auth.revokeApiKey(id, { db: client })
  client.release(true)
  t.equal(await statusOf(here, key), 200)
  await areDecidedFromMemory(here, key)
})
