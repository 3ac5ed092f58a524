import t from 'tap'
import { redactingLog } from '../../../packages/auth/src/guard/refusals.ts'
import { generateKey } from '../../../packages/auth/src/key-format.ts'
import { everyRow, textOf } from '../../support/every-row.ts'
import { startHost, withMe } from '../support/host.ts'
import { logOf } from '../support/log.ts'

const BOOTSTRAP_KEY = 'Zq8xW3vT5bN7mK9pL2sD4fG6'
const rateLimit = { maxAttempts: 3, windowMs: 60_000, blockDurationMs: 60_000 }

t.test('no text of a key is in the log or the database after all operations', async (t) => {
  const log = logOf()
  const { database, app, ask, makeUser, makeKey, endKey } = await startHost(t, {
    auth: { rateLimit },
    core: { secrets: () => BOOTSTRAP_KEY },
    fastify: { logger: { level: 'trace', stream: log } },
    after(app) {
      app.get('/me', async () => 'me')
      app.get('/fails', async () => {
        throw new Error('boom')
      })
    },
  })
  const { id: userId } = await makeUser()
  const made = await ask('POST', `/_auth/users/${userId}/keys`, { key: BOOTSTRAP_KEY })
  const expiring = await makeKey({ expiresAt: '2999-01-01T00:00:00Z' })
  await endKey(expiring.id)
  const unknown = [generateKey(), 'not-of-our-format-at-all', `${generateKey()}x`]
  const keys = [made.body.key, expiring.key, ...unknown]
  for (const key of keys) {
    for (const headers of [{ 'x-api-key': key }, { authorization: `Bearer ${key}` }]) {
      for (const path of ['/me', '/fails', '/_auth/users', '/nothing']) {
        await ask('GET', path, { key: null, headers })
        await ask('POST', path, { key: null, headers, body: {} })
      }
    }
    await app.svc.actions.call('__svc.auth.validateApiKey', key)
  }
  const key = BOOTSTRAP_KEY
  await ask('GET', '/fails', { key })
  await ask('DELETE', `/_auth/keys/${made.body.id}`, { key })
  await ask('GET', '/me', { key: made.body.key })
  await ask('DELETE', `/_auth/users/${userId}`, { key })
  await app.close()

  const stored = textOf(await everyRow(database))
  t.match(stored, made.body.keyPrefix, 'the dump holds what it should')
  t.match(log.text(), 'key refused')
  // Nine characters are one more than the prefix.
  const pieces = [...keys, BOOTSTRAP_KEY].flatMap((text: string) =>
    Array.from({ length: text.length - 8 }, (_, start) => text.slice(start, start + 9)),
  )
  t.same(
    pieces.filter((piece) => log.text().includes(piece)),
    [],
    'in the log',
  )
  t.same(
    pieces.filter((piece) => stored.includes(piece)),
    [],
    'in the database',
  )
})

t.test('the log shows which key was refused, and who created and revoked keys', async (t) => {
  const log = logOf()
  const { ask, makeUser } = await startHost(t, {
    fastify: { logger: { level: 'info', stream: log } },
    after: withMe,
  })
  const { id: userId } = await makeUser()
  const { body } = await ask('POST', `/_auth/users/${userId}/keys`, { body: { scopes: [] } })
  const { id: keyId, key } = body
  await ask('GET', '/me', { key: null })
  await ask('GET', '/me', { key })
  await ask('DELETE', `/_auth/keys/${keyId}`)
  await ask('GET', '/me', { key })
  await ask('GET', '/me', { key: 'unknown-key' })

  t.match(log.entries('key refused'), [
    { verdict: 'missing', reqId: String },
    { verdict: 'insufficient scope', keyId, userId },
    { verdict: 'revoked', keyId },
    { verdict: 'unknown', keyPrefix: 'unknown-' },
  ])
  t.match(log.entries('user created'), [{ userId, by: 'the application' }])
  t.match(log.entries('key created'), [{ keyId, userId, by: 'the bootstrap key' }])
  t.match(log.entries('key revoked'), [{ keyId, by: 'the bootstrap key' }])
})

t.test('a secret in a log line of ours is redacted', async (t) => {
  const log = logOf()
  const { app } = await startHost(t, { fastify: { logger: { level: 'info', stream: log } } })
  const headers = { authorization: 'Bearer swordfish' }
  redactingLog(app.log).info({ key: 'swordfish', headers, some: { key: 'swordfish' } }, 'slipped')
  t.notMatch(log.text(), 'swordfish')
  t.match(log.entries('slipped'), [{ key: '[Redacted]', headers: '[Redacted]' }])
})
