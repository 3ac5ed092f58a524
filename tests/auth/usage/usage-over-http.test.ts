import { randomUUID } from 'node:crypto'
import t from 'tap'
import { addUsage } from '../../../packages/auth/src/tables/usage.ts'
import { farFromEndOf } from '../../support/utc.ts'
import { startHost } from '../support/host.ts'
import { watchStatements } from '../support/statements.ts'
import { until } from '../../support/until.ts'
import { sessionOn } from '../../support/session.ts'

const after = (app: { get(path: string, ...rest: unknown[]): unknown }) => {
  app.get('/me', async () => 'me')
  app.get('/admin', { config: { scopes: ['admin'] } }, async () => 'admin')
}
const NOTHING = { allowed: 0, rate_limited: 0, quota_exceeded: 0, forbidden: 0, expired: 0 }

t.test('the requests with a key are counted by what came of them', async (t) => {
  const { app, ask, makeKey, endKey } = await startHost(t, { after })
  await farFromEndOf('hour')
  const limits = [{ limit: 2, perSeconds: 60 }]
  const { key, id } = await makeKey({ limits })
  for (let n = 0; n < 3; n++) await ask('GET', '/me', { key })
  await ask('GET', '/admin', { key })
  const other = await makeKey({ quota: { limit: 1, period: 'total' } })
  for (let n = 0; n < 3; n++) await ask('GET', '/me', { key: other.key })
  const gone = await makeKey({ expiresAt: '2999-01-01T00:00:00Z' })
  await endKey(gone.id)
  await until(async () => (await ask('GET', '/me', { key: gone.key })).status === 401)

  const { status, body } = await ask('GET', `/_auth/keys/${id}/usage`)
  t.equal(status, 200)
  t.same(body.totals, { ...NOTHING, allowed: 2, rate_limited: 1, forbidden: 1 })
  t.equal(body.by, 'hour')
  t.equal(body.points.length, 25)
  t.match(body.points.at(-1), { allowed: 2, rate_limited: 1, forbidden: 1 })
  t.equal(body.points.at(-1).at, `${new Date().toISOString().slice(0, 13)}:00:00.000Z`)
  const of = await app.svc.auth.getUsage({ keyId: other.id, by: 'day' })
  t.same(of.totals, { ...NOTHING, allowed: 1, quota_exceeded: 2 })
  const { totals } = await app.svc.auth.getUsage({ keyId: gone.id })
  t.same(totals, { ...NOTHING, allowed: totals.allowed, expired: 1 })

  const all = await ask('GET', '/_auth/usage?by=day')
  const sums = { rate_limited: 1, quota_exceeded: 2, forbidden: 1, expired: 1 }
  t.match(all.body.totals, { ...sums, allowed: 3 + totals.allowed })
})

t.test('usage is written when the host closes', async (t) => {
  const here = await startHost(t, { after })
  const { key, id } = await here.makeKey()
  for (let n = 0; n < 5; n++) await here.ask('GET', '/me', { key })
  await here.app.close()
  const { ask } = await startHost(t, { database: here.database })
  t.equal((await ask('GET', `/_auth/keys/${id}/usage`)).body.totals.allowed, 5)
})

t.test('usage that was written is not counted again where its answer was lost', async (t) => {
  const { database, makeKey } = await startHost(t, { auth: { usage: false } })
  const { id } = await makeKey()
  const client = await sessionOn(t, database)
  const [writer, other] = [randomUUID(), randomUUID()]
  const portion = (number: number) => ({
    number,
    hour: new Date('2030-01-01T10:00:00Z'),
    uses: [[id, { ...NOTHING, allowed: 3 }]] as const,
  })
  const written: [by: string, number: number, sum: number][] = [
    [writer, 1, 3],
    [writer, 1, 3],
    [other, 1, 6],
    [writer, 2, 9],
    [writer, 2, 9],
  ]
  for (const [by, number, sum] of written) {
    await addUsage(client, by, portion(number))
    const { rows } = await client.query('select allowed::int from svc."__svc.auth.usage"')
    t.same(rows, [{ allowed: sum }])
  }
})

t.test('a key of a tenant sees the usage of its tenant alone', async (t) => {
  const { ask, makeKey } = await startHost(t, { after })
  const scopes = ['read', 'auth:manage']
  const acme = await makeKey({ tenant: 'acme', scopes })
  const other = await makeKey({ tenant: 'other', scopes })
  const operators = await makeKey()
  await ask('GET', '/me', { key: acme.key })
  for (let n = 0; n < 2; n++) await ask('GET', '/me', { key: other.key })
  for (let n = 0; n < 4; n++) await ask('GET', '/me', { key: operators.key })

  const allowed = async (query: string, key?: string) =>
    (await ask('GET', `/_auth/usage${query}`, key === undefined ? {} : { key })).body.totals.allowed
  t.equal(await allowed('?tenant=other'), 2)
  t.equal(await allowed('?tenant='), 4)
  t.equal(await allowed(''), 7)
  t.equal(await allowed('', acme.key), 2, 'with the request that asks')
  t.equal(await allowed('?tenant=other', acme.key), 0)
  const foreign = await ask('GET', `/_auth/keys/${other.id}/usage`, { key: acme.key })
  t.match(foreign, { status: 404, body: { code: 'SVC_AUTH_KEY_NOT_FOUND' } })
})

t.test('usage is shown for the requested span, in whole hours or days of UTC', async (t) => {
  const { ask } = await startHost(t)
  const days = await ask(
    'GET',
    '/_auth/usage?from=2030-01-30T12:00:00Z&to=2030-02-02T00:00:00Z&by=day',
  )
  t.same(
    days.body.points.map(({ at }: { at: string }) => at.slice(0, 10)),
    ['2030-01-30', '2030-01-31', '2030-02-01'],
  )
  const wrong = ['from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z', 'from=2000-01-01T00:00:00Z']
  for (const query of wrong) {
    const { status, body } = await ask('GET', `/_auth/usage?${query}`)
    t.equal(status, 400)
    t.equal(body.code, 'SVC_AUTH_INVALID_USAGE_SPAN')
  }
  const atTheEnds = [
    ['to=0001-01-01T00:00:00Z', 400],
    ['to=0001-01-01T05:00:00Z', 200],
    ['by=day&to=9999-12-31T23:59:59Z', 200],
  ] as const
  for (const [query, status] of atTheEnds) {
    t.equal((await ask('GET', `/_auth/usage?${query}`)).status, status, query)
  }
  t.equal((await ask('GET', '/_auth/usage?by=week')).status, 400)
  t.equal((await ask('GET', '/_auth/keys/x/usage')).status, 404)
})

t.test('while it cannot be written, usage and times of use are a 503, and kept', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { after })
  const { key, id } = await makeKey()
  await ask('GET', '/me', { key })
  await ask('GET', '/me')
  const statements = watchStatements(app)
  for (const path of ['/_auth/usage', `/_auth/keys/${id}`]) {
    statements.broken = new Error('Query read timeout')
    const unavailable = { status: 503, headers: { 'retry-after': '1' } }
    t.match(await ask('GET', path), unavailable, path)
    statements.broken = undefined
    t.equal((await ask('GET', path)).status, 200, path)
  }
  t.equal((await ask('GET', `/_auth/keys/${id}/usage`)).body.totals.allowed, 1)
  t.match((await ask('GET', `/_auth/keys/${id}`)).body.lastUsedAt, /^\d/)
})

t.test('without the option usage no usage is counted', async (t) => {
  const { ask, makeKey } = await startHost(t, { after, auth: { usage: false } })
  const { key, id } = await makeKey()
  await ask('GET', '/me', { key })
  t.same((await ask('GET', `/_auth/keys/${id}/usage`)).body.totals, NOTHING)
})
