import t from 'tap'
import { redactingLog } from '../../../packages/auth/src/guard/refusals.ts'
import { startHost, withMe } from '../support/host.ts'
import { logOf } from '../support/log.ts'

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
