import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test as Tap } from 'tap'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { BOOTSTRAP_KEY, startHost, statusOf, withMe, type Host } from '../support/host.ts'

const rateLimit = { maxAttempts: 5, windowMs: 60_000, blockDurationMs: 60_000 }

/** The application takes every connection of its pool and gives none back before the test ends. */
async function useUpPool(t: Tap, { app }: Host): Promise<void> {
  const { database } = app.svc
  const taken = await Promise.all(
    Array.from({ length: database.options.max }, () => database.connect()),
  )
  t.teardown(() => {
    for (const client of taken) client.release()
  })
  t.equal(database.idleCount, 0)
}

/** Longer than a lease lasts, so that each key was decided by a lease of this time. */
const LONGER_THAN_A_LEASE_MS = 1500

async function throughout(check: () => Promise<void>): Promise<void> {
  const end = performance.now() + LONGER_THAN_A_LEASE_MS
  do {
    await check()
    await pause(20)
  } while (performance.now() < end)
}

for (const auth of [{}, { rateLimit }]) {
  const title = 'rateLimit' in auth ? 'with a rate limit' : 'without a rate limit'
  t.test(`keys are decided while the application uses its whole pool, ${title}`, async (t) => {
    const host = await startHost(t, { auth, after: withMe })
    const [used, unseen] = [await host.makeKey(), await host.makeKey()]
    t.equal(await statusOf(host, used.key), 200)
    t.equal(await statusOf(host, BOOTSTRAP_KEY), 200)

    await useUpPool(t, host)
    await throughout(async () => {
      t.equal(await statusOf(host, used.key), 200)
      t.equal(await statusOf(host, BOOTSTRAP_KEY), 200)
    })
    t.equal(await statusOf(host, unseen.key), 200, 'a key that this process has not seen')
    t.equal(await statusOf(host, 'no-such-key'), 401)
    if ('rateLimit' in auth) {
      t.equal(await statusOf(host, `${used.keyPrefix}-wrong`), 401)
      t.equal(await statusOf(host, used.key), 200, 'with failures to forget')
    }
  })
}

t.test('keys are decided behind a pooler while the application uses its whole pool', async (t) => {
  const { url } = await proxyPostgres(t, await freshDatabase(t), { refusesOptions: true })
  const host = await startHost(t, { database: url, after: withMe })
  const [used, unseen] = [await host.makeKey(), await host.makeKey()]
  t.equal(await statusOf(host, used.key), 200)
  await useUpPool(t, host)
  await throughout(async () => {
    t.equal(await statusOf(host, used.key), 200)
  })
  t.equal(await statusOf(host, unseen.key), 200)
})

t.test('a revocation holds while the application uses its whole pool', async (t) => {
  const database = await freshDatabase(t)
  const here = await startHost(t, { database, after: withMe })
  const there = await startHost(t, { database, after: withMe })
  const { id, key } = await here.makeKey()
  t.equal(await statusOf(there, key), 200)
  await useUpPool(t, there)
  await here.ask('DELETE', `/_auth/keys/${id}`)
  while ((await statusOf(there, key)) !== 401);
  t.equal(await statusOf(there, key), 401)
})

t.test('a locked key-value table delays no request, and failures are counted', async (t) => {
  const host = await startHost(t, { auth: { rateLimit }, after: withMe })
  const [used, unseen] = [await host.makeKey(), await host.makeKey()]
  t.equal(await statusOf(host, used.key), 200)
  const locker = await host.app.svc.database.connect()
  await locker.query('begin; lock table svc."__svc.kv" in access exclusive mode')
  await throughout(async () => {
    t.equal(await statusOf(host, used.key), 200)
  })
  t.equal(await statusOf(host, unseen.key), 200)
  t.equal(await statusOf(host, 'no-such-key'), 401)
  await locker.query('rollback')
  locker.release()
})
