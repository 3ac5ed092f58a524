// promise: A request with a cached key needs no query, unless its prefix has failed attempts or it has to wait for an allowance
import t from 'tap'
import { generateKey } from '../../../packages/auth/src/key-format.ts'
import { startHost, withMe } from '../support/host.ts'
import { watchStatements } from '../support/statements.ts'

const keyLookups = (texts: string[]) => texts.filter((text) => text.includes('where key_hash'))

t.test('a cached key is decided without a query', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
  const { key } = await makeKey()
  await ask('GET', '/me', { key })
  await ask('GET', '/me')

  const { texts } = watchStatements(app)
  for (let i = 0; i < 20; i++) {
    t.equal((await ask('GET', '/me', { key })).status, 200)
    t.equal((await ask('GET', '/me')).status, 200)
    t.equal((await ask('GET', '/_auth/x', { key })).status, 404)
  }
  t.same(texts, [])
})

t.test(
  'a cached key is decided without a query while the lockout has counted no failure',
  async (t) => {
    const rateLimit = { maxAttempts: 3, windowMs: 60_000, blockDurationMs: 60_000 }
    const { app, ask, makeKey } = await startHost(t, { auth: { rateLimit }, after: withMe })
    const { key } = await makeKey()
    await ask('GET', '/me', { key })

    const { texts } = watchStatements(app)
    for (let i = 0; i < 20; i++) t.equal((await ask('GET', '/me', { key })).status, 200)
    t.same(texts, [], 'only the poll looks for failures of others')
  },
)

t.test('requests that present one new key at the same time make one query', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
  const { key } = await makeKey()
  const { texts } = watchStatements(app)
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask('GET', '/me', { key })))
  t.ok(answers.every(({ status }) => status === 200))
  t.equal(keyLookups(texts).length, 1)
})

t.test('many new keys at the same time make one query for each two hundred', async (t) => {
  const { app, makeKey } = await startHost(t)
  const { validateApiKey } = app.svc.auth
  const { key } = await makeKey()
  const keys = Array.from({ length: 450 }, (_, n) => (n === 300 ? key : generateKey()))
  const { texts } = watchStatements(app)
  const answers = await Promise.all(keys.map((one) => validateApiKey(one)))
  t.equal(keyLookups(texts).length, 3)
  t.equal(
    answers.findIndex(({ valid }) => valid),
    300,
  )
})

t.test('a key that was refused is refused without a query', async (t) => {
  const { app, ask } = await startHost(t, { after: withMe })
  const { texts } = watchStatements(app)
  for (let i = 0; i < 10; i++) {
    t.equal((await ask('GET', '/me', { key: 'no-such-key' })).status, 401)
  }
  t.equal(keyLookups(texts).length, 1)
})

t.test('a text that cannot be a key is refused without a query', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
  const { key } = await makeKey()
  const badChecksum = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
  const { texts } = watchStatements(app)
  for (const text of [badChecksum, 'a b', 'ü'.repeat(9), 'x'.repeat(513)]) {
    t.equal((await ask('GET', '/me', { key: text })).status, 401, text)
  }
  t.same(texts, [])
})

t.test('a flood of unknown keys is refused while known keys pass', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
  const { key } = await makeKey()
  await ask('GET', '/me', { key })

  const flooding = (textOf: (i: number) => string) =>
    Promise.allSettled(
      Array.from({ length: 4000 }, (_, i) =>
        app.svc.actions.call('__svc.auth.validateApiKey', textOf(i)),
      ),
    )
  const flood = flooding((i) => `made-up-key-${i}`)
  /** A busy process may be late to renew what it remembers: 503 says nothing about a key. */
  const judged = async (one: string) => {
    for (;;) {
      const { status } = await ask('GET', '/me', { key: one })
      if (status !== 503) return status
    }
  }
  t.equal(await judged(key), 200)
  const { key: unseen } = await makeKey()
  t.equal(await judged(unseen), 200, 'its format has a budget of its own')

  await flood
  const answers = await flooding(() => generateKey())
  const turnedAway = answers.filter(({ status }) => status === 'rejected')
  t.ok(turnedAway.length > 0)
  t.match(turnedAway, Array(turnedAway.length).fill({ reason: { code: 'SVC_AUTH_UNAVAILABLE' } }))
})
