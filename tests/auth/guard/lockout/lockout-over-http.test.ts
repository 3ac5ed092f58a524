// promise: With `rateLimit`, failed attempts are counted over all processes, and lock out a key prefix
import t from 'tap'
import { BOOTSTRAP_KEY, startHost, withMe } from '../../support/host.ts'

const rateLimit = { maxAttempts: 5, windowMs: 60_000, blockDurationMs: 60_000 }

t.test('of twenty wrong keys at once five are counted and the others are blocked', async (t) => {
  const { ask, makeKey } = await startHost(t, { auth: { rateLimit }, after: withMe })
  const { key, keyPrefix } = await makeKey()
  for (const prefix of [keyPrefix, 'nobodys-']) {
    const wrong = Array.from({ length: 20 }, (_, i) => `${prefix}${i}`)
    const answers = await Promise.all(wrong.map((one) => ask('GET', '/me', { key: one })))
    const refused = answers.filter(({ status }) => status === 401)
    const blocked = answers.filter(({ status }) => status === 429)
    t.equal(refused.length, 5, prefix)
    t.equal(blocked.length, 15, prefix)
    t.match(refused[0]?.body, { code: 'SVC_AUTH_INVALID_KEY' })
    t.match(blocked[0], {
      body: { statusCode: 429, code: 'SVC_AUTH_BLOCKED', error: 'Too Many Requests' },
      headers: { 'retry-after': /^(5\d|60)$/ },
    })
  }
  t.equal((await ask('GET', '/me', { key })).status, 429, 'the right key is blocked too')
  t.equal((await ask('GET', '/me')).status, 200, 'another prefix is not')
})

t.test('a success forgets the failures before it', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { auth: { rateLimit }, after: withMe })
  const { key, keyPrefix } = await makeKey()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 4; i++) {
      t.equal((await ask('GET', '/me', { key: `${keyPrefix}${i}` })).status, 401)
    }
    t.equal((await ask('GET', '/me', { key })).status, 200)
  }
  const { rows } = await app.svc.database.query(
    'select prefix from svc."__svc.auth.failing_prefixes"',
  )
  t.same(rows, [])
})

t.test('a request without exactly one key is not counted as a failure', async (t) => {
  const strict = { ...rateLimit, maxAttempts: 1 }
  const { app, ask } = await startHost(t, { auth: { rateLimit: strict }, after: withMe })
  const twice = { 'x-api-key': ['nobodys-1', 'nobodys-2'] }
  const both = { 'x-api-key': 'nobodys-1', authorization: 'Bearer nobodys-2' }
  for (const headers of [{}, twice, both, { authorization: 'Basic eA==' }, { 'x-api-key': '' }]) {
    t.equal((await ask('GET', '/me', { key: null, headers })).status, 401)
  }
  t.same(
    (await app.svc.database.query('select prefix from svc."__svc.auth.failing_prefixes"')).rows,
    [],
  )
})

t.test('a key shorter than a prefix is its own prefix, whatever its characters', async (t) => {
  const strict = { ...rateLimit, maxAttempts: 1 }
  const { ask } = await startHost(t, { auth: { rateLimit: strict }, after: withMe })
  for (const key of ['short', 'shor', "';--", '$1%s{}', 'x'.repeat(512)]) {
    t.equal((await ask('GET', '/me', { key })).status, 401, key)
    t.equal((await ask('GET', '/me', { key })).status, 429, key)
  }
  t.equal((await ask('GET', '/me', { key: 'xxxxxxxx-another' })).status, 429)
})

t.test('a text that no key can be is refused, and counts for no prefix', async (t) => {
  const strict = { ...rateLimit, maxAttempts: 1 }
  const { app, ask, makeKey } = await startHost(t, { auth: { rateLimit: strict }, after: withMe })
  const { key, keyPrefix } = await makeKey()
  const refused = { valid: false, code: 'SVC_AUTH_INVALID_KEY', keyId: null }
  for (const end of ['é\u00ff', ' --', 'x'.repeat(9000)]) {
    t.equal((await ask('GET', '/me', { key: `${keyPrefix}${end}` })).status, 401)
  }
  for (const text of ['', '\0', 'svc_\0', '\ud800', `${keyPrefix}\0`, `${key}\n`]) {
    const answer = await ask('POST', '/_auth/verify', { body: { key: text } })
    t.match(answer, { status: 200, body: refused }, JSON.stringify(text))
  }
  t.same(
    (await app.svc.database.query('select prefix from svc."__svc.auth.failing_prefixes"')).rows,
    [],
  )
  t.equal((await ask('GET', '/me', { key })).status, 200)
})

t.test('the bootstrap key is blocked with its prefix like any other', async (t) => {
  const { ask } = await startHost(t, { auth: { rateLimit }, after: withMe })
  t.equal((await ask('GET', '/me')).status, 200)
  for (let i = 0; i < 5; i++) await ask('GET', '/me', { key: `${BOOTSTRAP_KEY.slice(0, 8)}${i}` })
  t.equal((await ask('GET', '/me')).status, 429)
})

t.test('expired and revoked keys are failures as well', async (t) => {
  const strict = { ...rateLimit, maxAttempts: 2 }
  const { app, ask, makeKey } = await startHost(t, { auth: { rateLimit: strict }, after: withMe })
  const { id, key } = await makeKey()
  t.equal((await ask('GET', '/me', { key })).status, 200)
  await app.svc.actions.call('__svc.auth.revokeApiKey', id)
  t.equal((await ask('GET', '/me', { key })).status, 401)
  t.equal((await ask('GET', '/me', { key })).status, 401)
  t.equal((await ask('GET', '/me', { key })).status, 429)
})
