// In a process of its own: the SDK of OpenTelemetry is registered once, for the whole process.
import t from 'tap'
import { registerSdk } from '../../support/open-telemetry.ts'
import { proxyPostgres } from '../../support/postgres-proxy.ts'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { prepareHost, startHost } from '../support/host.ts'

const sdk = registerSdk({ traces: false })

/** How often each decision was made since the last call, with the status of refusals. */
async function decisions(): Promise<Record<string, number>> {
  const now = Object.fromEntries(
    (await sdk.points('svc.guard.decisions')).map(({ attributes, value }) => {
      const status = attributes['http.response.status_code']
      const name = String(attributes['svc.guard.decision'])
      return [status === undefined ? name : `${name} ${status as number}`, value]
    }),
  )
  const since = Object.entries(now).map(([name, value]) => [name, value - (before[name] ?? 0)])
  before = now
  return Object.fromEntries(since.filter(([, value]) => value !== 0))
}
let before: Record<string, number> = {}

t.test('each decision of the guard is counted by its kind', async (t) => {
  const { ask, makeKey } = await startHost(t, {
    auth: { scopes: ['billing:read'] },
    after(app) {
      app.get('/orders', async () => 'orders')
      app.get('/health', async () => 'fine')
      app.get('/prices', { config: { public: true } }, async () => 'prices')
      app.get('/invoices', { config: { scopes: ['billing:read'] } }, async () => 'invoices')
    },
  })
  const { key } = await makeKey()
  const limited = await makeKey({ limits: [{ limit: 1, perSeconds: 60 }] })
  await decisions()
  const twoKeys = { headers: { 'x-api-key': key, authorization: 'Bearer another' }, key: null }
  await ask('GET', '/health', { key: null })
  await ask('GET', '/prices', { key: null })
  await ask('GET', '/orders', { key: null })
  await ask('GET', '/orders', twoKeys)
  await ask('GET', '/orders', { key: 'not-a-key' })
  await ask('GET', '/orders', { key })
  await ask('GET', '/orders', { key })
  await ask('GET', '/invoices', { key })
  t.equal((await ask('GET', '/orders', { key: limited.key })).status, 200)
  t.equal((await ask('GET', '/orders', { key: limited.key })).status, 429)
  t.strictSame(await decisions(), {
    open: 2,
    'missing 401': 1,
    'ambiguous 401': 1,
    'unknown 401': 1,
    allowed: 3,
    'insufficient_scope 403': 1,
    'rate_limited 429': 1,
  })
})

t.test('a request that a proxy asks about is one decision', async (t) => {
  const { ask, makeKey } = await startHost(t)
  const { key } = await makeKey()
  await decisions()
  const headers = (uri: string) => ({ 'x-forwarded-method': 'GET', 'x-forwarded-uri': uri })
  const path = '/_auth/forward-auth'
  t.equal((await ask('GET', path, { key, headers: headers('/orders') })).status, 204)
  t.equal((await ask('GET', path, { key: null, headers: headers('/orders') })).status, 401)
  t.equal((await ask('GET', path, { key: null, headers: headers('/health') })).status, 204)
  t.strictSame(await decisions(), { allowed: 1, 'missing 401': 1, open: 1 })
})

t.test('a lookup that the cache decides counts as a hit', async (t) => {
  const { ask, makeKey } = await startHost(t, {
    after: (app) => void app.get('/orders', async () => 'orders'),
  })
  const { key } = await makeKey()
  const lookups = async () => {
    const points = await sdk.points('svc.guard.cache.lookups')
    const of = (result: string) =>
      points.find(({ attributes }) => attributes['svc.guard.cache.result'] === result)?.value ?? 0
    return [of('hit'), of('miss')] as const
  }
  const [hits, misses] = await lookups()
  for (let n = 0; n < 5; n++) await ask('GET', '/orders', { key })
  const [hitsAfter, missesAfter] = await lookups()
  // The cache may have been out of date in between: such a request asks Postgres.
  t.ok(missesAfter - misses >= 1)
  t.equal(hitsAfter - hits + missesAfter - misses, 5)
})

t.test('a request that cannot be decided about counts as unavailable', async (t) => {
  const proxy = await proxyPostgres(t, await freshDatabase(t))
  const app = await prepareHost(t, {
    database: proxy.url,
    after: (host) => void host.get('/orders', async () => 'orders'),
  })
  await app.ready()
  await decisions()
  proxy.cut()
  await until(
    () => app.inject({ url: '/orders', headers: { 'x-api-key': 'some-key-of-nobody' } }),
    ({ statusCode }) => statusCode === 503,
  )
  t.match(await decisions(), { 'unavailable 503': Number })
  proxy.mend()
})
