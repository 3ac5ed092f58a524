import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost, type Answer, type Host } from '../support/host.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { until } from '../../support/until.ts'

const after = (app: { get(path: string, handler: () => Promise<string>): unknown }) => {
  app.get('/me', async () => 'me')
  app.get('/health', async () => 'open')
}

const unavailable = {
  status: 503,
  body: { statusCode: 503, code: 'SVC_AUTH_UNAVAILABLE', error: 'Service Unavailable' },
  headers: { 'retry-after': '1' },
}

for (const how of ['cut', 'silence'] as const) {
  t.test(`without Postgres every request is refused, and none hangs: ${how}`, async (t) => {
    const proxy = await proxyPostgres(t, await freshDatabase(t))
    const { ask, makeKey } = await startHost(t, { database: proxy.url, after })
    const { key } = await makeKey()
    t.equal((await ask('GET', '/me', { key })).status, 200)

    proxy[how]()
    await until(async () => (await ask('GET', '/me', { key })).status === 503)

    const answers = await Promise.all([
      ask('GET', '/me', { key }),
      ask('GET', '/me'),
      ask('GET', '/me', { key: 'no-such-key' }),
      ask('DELETE', '/_auth/users/x', { key }),
      ask('GET', '/nothing', { key }),
    ])
    for (const answer of answers) t.match(answer, unavailable)
    t.equal((await ask('GET', '/me', { key: null })).status, 401, 'no key is no question')
    t.equal((await ask('GET', '/health', { key: null })).status, 200)

    proxy.mend()
    await until(async () => (await ask('GET', '/me', { key })).status === 200)
    t.equal((await ask('GET', '/me', { key: 'no-such-key' })).status, 401)
  })
}

t.test('while failures cannot be counted, every request with a key is a 503', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const rateLimit = { maxAttempts: 5, windowMs: 60_000, blockDurationMs: 60_000 }
  const host = await startHost(t, { database: proxy.url, auth: { rateLimit }, after })
  const { key } = await host.makeKey()
  await host.ask('GET', '/me', { key })
  t.equal((await ask(host, 'no-such-key')).status, 401)

  proxy.cut()
  await until(async () => (await ask(host, key)).status === 503)
  t.match(await ask(host, 'no-such-key'), unavailable)
  t.match(await ask(host, 'a b'), unavailable, 'not even what cannot be a key')
})

const ask = (host: Host, key: string): Promise<Answer> => host.ask('GET', '/me', { key })
