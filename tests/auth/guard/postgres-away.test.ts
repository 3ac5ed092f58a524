// promise: Without Postgres the guard admits only keys that it has checked recently, and no request hangs
import t from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { startHost, type Answer, type Host, type MadeKey } from '../support/host.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { AUTH, UNKNOWN } from '../../support/operations.ts'
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
    // Its lookup may have to wait for a connection that is made anew.
    const unknown = await until(
      () => ask('GET', '/me', { key: 'no-such-key' }),
      ({ status }) => status !== 503,
    )
    t.equal(unknown.status, 401)
  })
}

/** The requests of the management API that ask Postgres; a key may make all of them. */
const requestsOn = ({ id: keyId, userId, key }: MadeKey): [route: string, body?: object][] => [
  ['POST /_auth/me/rotate'],
  ['GET /_auth/me'],
  ['GET /_auth/audit'],
  ...Object.values(AUTH).flatMap(({ asked }) => {
    const [, ...requests] = asked({ ...UNKNOWN, userId, keyId, key: `${key}x` })
    return requests
  }),
]

/** Below the time limits of statements, and far above the two seconds that requests wait. */
const SOON_MS = 12_000

t.test('management calls that are under way are refused as soon, and change nothing', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const { app, ask, makeKey } = await startHost(t, { database: proxy.url, after })
  const made = await makeKey({ scopes: ['admin'] })
  const { key } = made
  t.equal((await ask('GET', '/_auth/me', { key })).status, 200)

  // The guard decides from its cache, which it trusts for a moment.
  proxy.silence()
  const beganMs = performance.now()
  await Promise.all(
    requestsOn(made).map(async ([route, body]) => {
      const [method = '', path = ''] = route.split(' ')
      const answer = await ask(method, path, { key, ...(body && { body }) })
      const ms = Math.round(performance.now() - beganMs)
      t.match(answer, { status: 503, headers: { 'retry-after': '1' } }, route)
      t.ok(ms < SOON_MS, `${route}: ${ms} ms`)
    }),
  )
  proxy.mend()
  await until(async () => (await ask('GET', '/me', { key })).status === 200)
  t.match(await app.svc.auth.getApiKey(made.id), { label: null, replacedBy: null, revokedAt: null })
})

t.test('a rotation that was refused is not made when Postgres answers late', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const { ask, makeKey } = await startHost(t, { database: proxy.url, after })
  const { key } = await makeKey()
  t.equal((await ask('GET', '/_auth/me', { key })).status, 200)

  proxy.delay(1500)
  t.equal((await ask('POST', '/_auth/me/rotate', { key })).status, 503)
  proxy.mend()
  const rotate = () => ask('POST', '/_auth/me/rotate', { key })
  const again = await until(rotate, ({ status }) => status !== 503)
  t.equal(again.status, 201, 'and no 409: its text would be lost')
})

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
  t.equal((await ask(host, 'a b')).status, 401, 'what cannot be a key is not counted')
})

const ask = (host: Host, key: string): Promise<Answer> => host.ask('GET', '/me', { key })
