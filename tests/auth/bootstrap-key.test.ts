import t from 'tap'
import { BOOTSTRAP_KEY, startHost, type HostOptions } from './support/host.ts'
import { logOf } from './support/log.ts'

const after: NonNullable<HostOptions['after']> = (app) =>
  void app.get('/me', async (request) => request.auth)

t.test('the bootstrap key is an admin without a user', async (t) => {
  const { ask } = await startHost(t, { after })
  t.same((await ask('GET', '/me')).body, {
    userId: null,
    scopes: ['admin'],
    bootstrap: true,
    keyId: null,
  })
  t.equal((await ask('GET', '/me', { key: `${BOOTSTRAP_KEY}x` })).status, 401)
  t.equal((await ask('GET', '/me', { key: BOOTSTRAP_KEY.toUpperCase() })).status, 401)
})

t.test('without a good secret there is none, and the log says why', async (t) => {
  const rows: [secret: string | null, reason: RegExp][] = [
    [null, /is not set/],
    ['', /is not set/],
    ['fifteen letters', /shorter than 16/],
    ['with a line break\n', /no header can carry/],
  ]
  for (const [secret, reason] of rows) {
    const log = logOf()
    const { ask } = await startHost(t, {
      after,
      core: { secrets: () => secret },
      fastify: { logger: { level: 'warn', stream: log } },
    })
    t.match(log.text(), reason)
    if (secret) t.notMatch(log.text(), secret.trim())
    t.equal((await ask('GET', '/me', { key: secret?.trim() || 'x' })).status, 401)
  }
})

t.test('a secret store that is away lets nobody in, but known keys', async (t) => {
  const log = logOf()
  let isAway = true
  const { ask, makeKey } = await startHost(t, {
    after,
    core: {
      secrets() {
        if (isAway) throw new Error('the vault is sealed')
        return BOOTSTRAP_KEY
      },
    },
    fastify: { logger: { level: 'warn', stream: log } },
  })
  t.match(log.text(), /the vault is sealed/)
  const { key } = await makeKey()

  t.equal((await ask('GET', '/me', { key })).status, 200)
  t.match(await ask('GET', '/me'), { status: 503, headers: { 'retry-after': '1' } })
  t.equal((await ask('GET', '/me', { key: 'no-such-key' })).status, 503, 'it might be the one')

  isAway = false
  await t.resolves(
    (async () => {
      while ((await ask('GET', '/me')).status !== 200);
    })(),
  )
  t.equal((await ask('GET', '/me', { key: 'no-such-key' })).status, 401)
})
