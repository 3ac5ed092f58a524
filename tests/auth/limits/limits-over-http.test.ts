// promise: A request with a cached key needs no query, unless its prefix has failed attempts or it has to wait for an allowance
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { startHost, type Host, type KeyInput } from '../support/host.ts'
import { watchStatements } from '../support/statements.ts'
import { until } from '../../support/until.ts'
import { farFromEndOf } from '../../support/utc.ts'

const after = (app: { get(path: string, ...rest: unknown[]): unknown }) => {
  app.get('/me', async () => 'me')
  app.get('/dear', { config: { cost: 5 } }, async () => 'dear')
  app.get('/free', { config: { cost: 0 } }, async () => 'free')
}

const statusesOf = async (host: Host, key: string, count: number, path = '/me') => {
  const answers = await Promise.all(
    Array.from({ length: count }, () => host.ask('GET', path, { key })),
  )
  return answers.map(({ status }) => status)
}
const passedOf = (statuses: number[]) => statuses.filter((status) => status === 200).length

t.test('a request over a limit is a 429 that says when to come again', async (t) => {
  const host = await startHost(t, { after })
  const { key } = await host.makeKey({ limits: [{ limit: 3, perSeconds: 60 }] })
  for (const left of [2, 1, 0]) {
    const { status, headers } = await host.ask('GET', '/me', { key })
    t.equal(status, 200)
    t.equal(headers['ratelimit-policy'], '"3-per-60s";q=3;w=60')
    t.match(headers['ratelimit'], new RegExp(`^"3-per-60s";r=${left};t=\\d+$`))
  }
  const { status, body, headers } = await host.ask('GET', '/me', { key })
  t.equal(status, 429)
  t.match(body, { statusCode: 429, code: 'SVC_AUTH_RATE_LIMITED', error: 'Too Many Requests' })
  const retryAfter = Number(headers['retry-after'])
  // The window, and a moment in which the last allotment may be used.
  t.ok(retryAfter > 50 && retryAfter <= 61, `${retryAfter}`)
  t.match(headers['ratelimit'], /^"3-per-60s";r=0;t=\d+$/)
})

t.test('of many requests at once as many pass as all limits allow', async (t) => {
  const host = await startHost(t, { after })
  const limits = [
    { limit: 50, perSeconds: 60 },
    { limit: 20, perSeconds: 30 },
  ]
  const { key } = await host.makeKey({ limits })
  t.equal(passedOf(await statusesOf(host, key, 100)), 20)
  t.equal(passedOf(await statusesOf(host, key, 10)), 0)
})

t.test('a request that finds an allowance held needs no query', async (t) => {
  const host = await startHost(t, { after })
  const { key } = await host.makeKey({ limits: [{ limit: 1000, perSeconds: 60 }] })
  await host.ask('GET', '/me', { key })
  const { texts } = watchStatements(host.app)
  t.equal((await host.ask('GET', '/me', { key })).status, 200)
  t.same(texts, [])
})

t.test('a flood over a limit needs no query', async (t) => {
  const host = await startHost(t, { after })
  const { key } = await host.makeKey({ limits: [{ limit: 5, perSeconds: 60 }] })
  await statusesOf(host, key, 10)
  await pause(50)
  const { texts } = watchStatements(host.app)
  t.equal(passedOf(await statusesOf(host, key, 50)), 0)
  t.same(texts, [])
})

t.test('the requests of one moment share a statement', async (t) => {
  const host = await startHost(t, { after })
  const { id: userId } = await host.makeUser()
  const input: KeyInput = { userId, limits: [{ limit: 5, perSeconds: 60 }] }
  const keys: string[] = []
  for (let n = 0; n < 20; n++) keys.push((await host.makeKey(input)).key)
  for (const key of keys) await host.ask('GET', '/me', { key })
  const { texts } = watchStatements(host.app)
  await Promise.all(keys.map((key) => host.ask('GET', '/me', { key })))
  const statements = texts.filter((text) => text.includes('allot_allowances')).length
  // What is allotted too late on a busy machine is asked for again, for all of them at once.
  t.ok(statements >= 1 && statements <= 6, `${statements}`)
})

t.test('the keys of a tenant share its limits, and other tenants have their own', async (t) => {
  const auth = { tenantLimits: [{ limit: 4, perSeconds: 60 }] }
  const host = await startHost(t, { after, auth })
  const [first, second] = [
    await host.makeKey({ tenant: 'acme' }),
    await host.makeKey({ tenant: 'acme' }),
  ]
  const other = await host.makeKey({ tenant: 'other' })
  const operators = await host.makeKey()
  t.equal(passedOf(await statusesOf(host, first.key, 3)), 3)
  t.equal(passedOf(await statusesOf(host, second.key, 3)), 1)
  t.equal(passedOf(await statusesOf(host, other.key, 6)), 4)
  t.equal(passedOf(await statusesOf(host, operators.key, 6)), 6)
  const { headers } = await host.ask('GET', '/me', { key: first.key })
  t.equal(headers['ratelimit-policy'], '"tenant-4-per-60s";q=4;w=60')
})

t.test('a quota counts what routes cost, and is never passed', async (t) => {
  const host = await startHost(t, { after })
  const { key } = await host.makeKey({ quota: { limit: 8, period: 'day' } })
  await farFromEndOf('day')
  t.same(await statusesOf(host, key, 1, '/dear'), [200])
  t.same(await statusesOf(host, key, 1, '/dear'), [429])
  t.same(await statusesOf(host, key, 2, '/free'), [200, 200])
  t.equal(passedOf(await statusesOf(host, key, 5)), 3)
  const { body, headers } = await host.ask('GET', '/me', { key })
  t.match(body, { statusCode: 429, code: 'SVC_AUTH_QUOTA_EXCEEDED' })
  const untilMidnight = 86_400 - (Date.now() % 86_400_000) / 1000
  t.ok(Math.abs(Number(headers['retry-after']) - untilMidnight) < 60)
  t.equal(headers['ratelimit-policy'], '"quota-day";q=8;w=86400')
  t.match(headers['ratelimit'], /^"quota-day";r=0;t=\d+$/)
})

t.test('a total quota that is used up has no Retry-After', async (t) => {
  const host = await startHost(t, { after })
  const { key } = await host.makeKey({ quota: { limit: 2, period: 'total' } })
  t.same((await statusesOf(host, key, 3)).toSorted(), [200, 200, 429])
  const { status, headers } = await host.ask('GET', '/me', { key })
  t.equal(status, 429)
  t.equal(headers['retry-after'], undefined)
  t.equal(headers['ratelimit'], '"quota-total";r=0')
})

t.test('a request without the scope is a 403 and takes nothing', async (t) => {
  const host = await startHost(t, { after })
  const { key } = await host.makeKey({ scopes: [], limits: [{ limit: 2, perSeconds: 60 }] })
  t.same(await statusesOf(host, key, 4), [403, 403, 403, 403])
  const { headers } = await host.ask('GET', '/me', { key })
  t.match(headers['ratelimit'], /^"2-per-60s";r=2/)
})

t.test(
  'two hosts keep a small limit together, and a closed host gives back what it held',
  async (t) => {
    const here = await startHost(t, { after })
    const there = await startHost(t, { after, database: here.database })
    const { key } = await here.makeKey({ limits: [{ limit: 10, perSeconds: 60 }] })
    const both = await Promise.all([statusesOf(here, key, 20), statusesOf(there, key, 20)])
    t.equal(passedOf(both.flat()), 10)

    const { key: quotaKey } = await here.makeKey({ quota: { limit: 100, period: 'total' } })
    t.equal(passedOf(await statusesOf(there, quotaKey, 3)), 3)
    await there.app.close()
    t.equal(passedOf(await statusesOf(here, quotaKey, 120)), 97)
  },
)

t.test('a PATCH of limits applies in hosts that have the key in their cache', async (t) => {
  const host = await startHost(t, { after })
  const { key, id } = await host.makeKey({ limits: [{ limit: 1, perSeconds: 60 }] })
  t.equal(passedOf(await statusesOf(host, key, 3)), 1)
  const limits = [{ limit: 3, perSeconds: 60 }]
  const { body } = await host.ask('PATCH', `/_auth/keys/${id}`, { body: { limits } })
  t.match(body, { limits, quota: null })
  t.equal(passedOf(await statusesOf(host, key, 5)), 2, 'what was used counts')
  const reset = await host.ask('PATCH', `/_auth/keys/${id}`, { body: { limits: null } })
  t.equal(reset.body.limits, null)
  t.equal(passedOf(await statusesOf(host, key, 5)), 5)
})

t.test('a rotated key shares its limits and quota with the old one', async (t) => {
  const host = await startHost(t, { after })
  const quota = { limit: 5, period: 'month' } as const
  const { key, id } = await host.makeKey({ quota })
  await farFromEndOf('day')
  t.equal(passedOf(await statusesOf(host, key, 3)), 3)
  const { body } = await host.ask('POST', `/_auth/keys/${id}/rotate`)
  t.match(body, { quota, replaces: id })
  t.equal(passedOf(await statusesOf(host, body.key, 4)), 2)
  t.equal(passedOf(await statusesOf(host, key, 1)), 0)
})

t.test('a verification for another service counts for limits and quota', async (t) => {
  const host = await startHost(t)
  const { key } = await host.makeKey({ quota: { limit: 10, period: 'day' } })
  await farFromEndOf('day')
  const verify = async (body: object) => (await host.ask('POST', '/_auth/verify', { body })).body
  t.match(await verify({ key }), { valid: true, code: null, remaining: 9 })
  t.match(await verify({ key, cost: 7 }), { valid: true, remaining: 2 })
  const refused = { valid: false, code: 'SVC_AUTH_QUOTA_EXCEEDED', remaining: 2 }
  t.match(await verify({ key, cost: 3 }), refused)
  t.match(await verify({ key, cost: 2 }), { valid: true, remaining: 0 })
  const limited = await host.makeKey({ limits: [{ limit: 1, perSeconds: 60 }] })
  t.match(await verify({ key: limited.key }), { valid: true, remaining: 0 })
  t.match(await verify({ key: limited.key }), { valid: false, code: 'SVC_AUTH_RATE_LIMITED' })
})

t.test('a limit with wrong values is a 400', async (t) => {
  const host = await startHost(t)
  const { id } = await host.makeUser()
  const wrong = [
    { limits: [{ limit: 0, perSeconds: 1 }] },
    { limits: [{ limit: 1, perSeconds: 0.5 }] },
    { limits: [{ limit: 1 }] },
    { limits: Array(4).fill({ limit: 1, perSeconds: 1 }) },
    { quota: { limit: 1, period: 'week' } },
    { quota: { limit: -1, period: 'day' } },
  ]
  for (const body of wrong) {
    const { status } = await host.ask('POST', `/_auth/users/${id}/keys`, { body })
    t.equal(status, 400, JSON.stringify(body))
  }
  const wrongCost = startHost(t, {
    after: (app) => void app.get('/x', { config: { cost: -1 } }, async () => 'x'),
  })
  await t.rejects(wrongCost, { code: 'SVC_AUTH_INVALID_ROUTE_COST' })
})

t.test(
  'without Postgres the allowances that are held are used up, then the answer is a 503',
  async (t) => {
    const host = await startHost(t, { after })
    const { key } = await host.makeKey({ limits: [{ limit: 1000, perSeconds: 60 }] })
    await host.ask('GET', '/me', { key })
    const statements = watchStatements(host.app)
    statements.broken = new Error('Postgres is away')
    const statuses: number[] = []
    // Nothing passes while the poll for changes has to take the pool, its own connection being slow.
    await until(async () => {
      statuses.push(...(await statusesOf(host, key, 30)))
      return passedOf(statuses) > 0
    })
    t.ok(statuses.every((status) => status === 200 || status === 503))
    t.ok(statuses.includes(503))
  },
)
