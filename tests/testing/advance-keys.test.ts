/** What `advance` does to keys, limits and lockouts. */
import t, { type Test } from 'tap'
import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import { advance, drain } from '@svc/testing'
import { freshDatabase } from '../support/fresh-database.ts'
import { newHost } from '../support/new-host.ts'

/** A host with keys, a user, and a route that needs a key. */
async function startKeys(t: Test, settings: object = {}) {
  const database = await freshDatabase(t)
  const app = newHost(t)
  await app.register(svcCore, { database })
  await app.register(svcAuth, settings)
  app.get('/', async () => 'hello')
  await app.ready()
  const user = await app.svc.auth.createUser({ email: 'a@example.com', name: 'A' })
  const ask = async (key: string) =>
    (await app.inject({ url: '/', headers: { 'x-api-key': key } })).statusCode
  const makeKey = (input: object) => app.svc.auth.createApiKey({ userId: user.id, ...input })
  return { app, ask, makeKey }
}

t.test('a key expires, its events are published, and its rotation ends', async (t) => {
  const { app, ask, makeKey } = await startKeys(t, { expiryNoticeDays: [1], unusedNoticeDays: 1 })
  const told: string[] = []
  const unused: unknown[] = []
  await app.svc.events.subscribe('svc.key.unused', ({ keyId }) => void unused.push(keyId))
  const idle = await makeKey({})
  for (const name of ['svc.key.expiring', 'svc.key.expired']) {
    await app.svc.events.subscribe(name, () => void told.push(name))
  }
  const expiresAt = new Date(Date.now() + 2 * 86_400_000).toISOString()
  const { key } = await makeKey({ expiresAt })
  t.equal(await ask(key), 200)
  await advance(app, 86_500)
  await drain(app)
  t.strictSame(told, ['svc.key.expiring'])
  t.equal(await ask(key), 200)
  await advance(app, 86_500.5)
  await drain(app)
  t.strictSame(told, ['svc.key.expiring', 'svc.key.expired'])
  t.equal(unused.filter((id) => id === idle.id).length, 1)
  t.equal(await ask(key), 401)

  const old = await makeKey({})
  const rotated = await app.svc.auth.rotateApiKey({ id: old.id, overlapSeconds: 3600 })
  t.equal(await ask(old.key), 200)
  await advance(app, 3601)
  t.equal(await ask(old.key), 401)
  t.equal(await ask(rotated.key), 200)
})

t.test(
  'limits, quotas and lockouts let requests pass when advance has passed their time',
  async (t) => {
    const { app, ask, makeKey } = await startKeys(t, {
      rateLimit: { maxAttempts: 2, windowMs: 3_600_000, blockDurationMs: 3_600_000 },
    })
    const limited = await makeKey({ limits: [{ limit: 1, perSeconds: 3600 }] })
    const counted = await makeKey({ quota: { limit: 1, period: 'month' } })
    const once = await makeKey({ quota: { limit: 1, period: 'total' } })
    for (const { key } of [limited, counted, once]) {
      t.equal(await ask(key), 200)
      t.equal(await ask(key), 429)
    }
    const wrong = 'unknown-key-of-nobody'
    t.strictSame([await ask(wrong), await ask(wrong), await ask(wrong)], [401, 401, 429])
    await advance(app, 3601)
    t.equal(await ask(limited.key), 200)
    t.equal(await ask(wrong), 401)
    const refused = await app.inject({ url: '/', headers: { 'x-api-key': limited.key } })
    t.equal(refused.statusCode, 429)
    // The window, and a moment in which the last grant may be used.
    t.ok(Number(refused.headers['retry-after']) <= 3601, `${refused.headers['retry-after']}`)
    const resetSeconds = /;t=(\d+)$/.exec(String(refused.headers['ratelimit']))?.[1]
    t.ok(Number(resetSeconds) <= 3600, `${refused.headers['ratelimit']}`)
    await advance(app, 32 * 86_400)
    t.equal(await ask(counted.key), 200)
    t.equal(await ask(once.key), 429, 'for ever')
  },
)
