import t, { type Test as Tap } from 'tap'
import type { SvcAuthOptions } from '@svc/auth'
import { freshDatabase } from '../../support/fresh-database.ts'
import { until } from '../../support/until.ts'
import { farFromEndOf } from '../../support/utc.ts'
import { prepareHost, startHost, statusOf, type Host, type HostOptions } from '../support/host.ts'
import { logOf } from '../support/log.ts'

const after: NonNullable<HostOptions['after']> = (app) => {
  app.get('/me', async () => 'me')
  app.get('/dear', { config: { cost: 3 } }, async () => 'dear')
}

const get = ({ ask }: Host, key: string, path = '/me') => ask('GET', path, { key })

/** A host whose tenants have the plans of a table. */
async function hostWithPlans(
  t: Tap,
  auth: SvcAuthOptions,
  { of, ...options }: HostOptions & { of?: Record<string, string | null> } = {},
) {
  const plans: Record<string, string | null> = of ?? {}
  const asked: string[] = []
  const host = await startHost(t, {
    after,
    ...options,
    auth: {
      planOf(tenant) {
        asked.push(tenant)
        return plans[tenant] ?? null
      },
      ...auth,
    },
  })
  return { ...host, host, plans, asked }
}

const keyOf = ({ makeKey }: Host, tenant: string | null, key: object = {}) =>
  makeKey({ tenant, ...key })

const perMinute = (limit: number) => [{ limit, perSeconds: 60 }]
const daily = (limit: number) => ({ limit, period: 'day' as const })

t.before(() => farFromEndOf('day'))

t.test('a plan limits its tenants and their keys, and nobody else', async (t) => {
  const { host, asked } = await hostWithPlans(
    t,
    {
      plans: {
        free: {
          tenantLimits: perMinute(3),
          tenantQuota: daily(9),
          keyLimits: perMinute(2),
          keyQuota: daily(8),
        },
      },
    },
    { of: { acme: 'free' } },
  )
  const [one, other] = [await keyOf(host, 'acme'), await keyOf(host, 'acme')]
  const answer = await get(host, one.key)
  t.equal(
    answer.headers['ratelimit-policy'],
    '"2-per-60s";q=2;w=60, "tenant-3-per-60s";q=3;w=60, "quota-day";q=8;w=86400, "tenant-quota-day";q=9;w=86400',
  )
  t.match(
    answer.headers['ratelimit'],
    /"2-per-60s";r=1.*"tenant-3-per-60s";r=2.*"quota-day";r=7.*"tenant-quota-day";r=8/,
  )
  t.equal(await statusOf(host, one.key), 200)
  t.match(await get(host, one.key), { status: 429, body: { code: 'SVC_AUTH_RATE_LIMITED' } })
  t.equal(await statusOf(host, other.key), 200)
  t.equal(await statusOf(host, other.key), 429, 'the tenant has made three')

  for (const tenant of ['globex', null]) {
    const { key } = await keyOf(host, tenant)
    for (let n = 0; n < 5; n++) t.equal(await statusOf(host, key), 200)
  }
  t.same(asked, ['acme', 'globex'])
})

t.test('what a key has itself holds in place of what the plan gives to each key', async (t) => {
  const { host } = await hostWithPlans(t, {
    plans: { default: { keyLimits: perMinute(2), keyQuota: daily(3), tenantLimits: perMinute(9) } },
  })
  const ample = await keyOf(host, 'acme', { limits: perMinute(4) })
  const policy = async (key: string) => (await get(host, key)).headers['ratelimit-policy']
  t.equal(
    await policy(ample.key),
    '"4-per-60s";q=4;w=60, "tenant-9-per-60s";q=9;w=60, "quota-day";q=3;w=86400',
  )
  const thrifty = await keyOf(host, 'acme', { quota: { limit: 1, period: 'total' } })
  t.equal(
    await policy(thrifty.key),
    '"2-per-60s";q=2;w=60, "tenant-9-per-60s";q=9;w=60, "quota-total";q=1',
  )
})

t.test('the limits of the host and those of the plan both hold', async (t) => {
  const { host } = await hostWithPlans(
    t,
    {
      tenantLimits: [
        { limit: 5, perSeconds: 60 },
        { limit: 4, perSeconds: 3600 },
      ],
      plans: { small: { tenantLimits: perMinute(2) }, large: { tenantLimits: perMinute(9) } },
    },
    { of: { acme: 'small', globex: 'large' } },
  )
  const passing = async (tenant: string) => {
    const { key } = await keyOf(host, tenant)
    let passed = 0
    while ((await statusOf(host, key)) === 200) passed++
    return passed
  }
  t.equal(await passing('acme'), 2)
  t.equal(await passing('globex'), 4)
})

t.test('a request that one limit refuses uses up none of the others', async (t) => {
  const { host } = await hostWithPlans(t, {
    plans: {
      default: {
        keyLimits: perMinute(1),
        keyQuota: daily(50),
        tenantLimits: perMinute(50),
        tenantQuota: daily(9),
      },
    },
  })
  const keys = [await keyOf(host, 'acme'), await keyOf(host, 'acme'), await keyOf(host, 'acme')]
  t.equal(await statusOf(host, keys[0]!.key), 200)
  const refused = await Promise.all(Array.from({ length: 20 }, () => statusOf(host, keys[0]!.key)))
  t.same(new Set(refused), new Set([429]))
  t.match(
    (await get(host, keys[1]!.key)).headers['ratelimit'],
    /"tenant-50-per-60s";r=48.*"tenant-quota-day";r=7/,
  )

  const dear = await get(host, keys[2]!.key, '/dear')
  t.match(dear.headers['ratelimit'], /"tenant-quota-day";r=4/)
  const limited = await keyOf(host, 'acme', { limits: perMinute(50) })
  t.match(await get(host, limited.key, '/dear'), {
    status: 200,
    headers: { ratelimit: /"tenant-quota-day";r=1/ },
  })
  t.match(await get(host, limited.key, '/dear'), {
    status: 429,
    body: { code: 'SVC_AUTH_QUOTA_EXCEEDED' },
  })
  t.match(
    (await get(host, limited.key)).headers['ratelimit'],
    /"50-per-60s";r=48.*"quota-day";r=46.*"tenant-quota-day";r=0/,
  )
})

t.test('a request over two quotas is told when the later one has room again', async (t) => {
  const { host } = await hostWithPlans(t, { plans: { default: { tenantQuota: daily(2) } } })
  const { auth } = host.app.svc
  const [once, other] = [
    await keyOf(host, 'acme', { quota: { limit: 1, period: 'total' } }),
    await keyOf(host, 'acme'),
  ]
  t.match(await auth.verifyApiKey({ key: other.key }), { valid: true, remaining: 1 })
  t.match(await auth.verifyApiKey({ key: once.key }), { valid: true, remaining: 0 })
  const overOne = await get(host, other.key)
  t.match(overOne, { status: 429, body: { code: 'SVC_AUTH_QUOTA_EXCEEDED' } })
  t.ok(Number(overOne.headers['retry-after']) > 0)
  const overBoth = await get(host, once.key)
  t.match(overBoth, { status: 429, body: { code: 'SVC_AUTH_QUOTA_EXCEEDED' } })
  t.equal(overBoth.headers['retry-after'], undefined, 'its own one has no end')
})

t.test('a change of plan holds at once here, and within a second elsewhere', async (t) => {
  const database = await freshDatabase(t)
  const plans = { free: { tenantQuota: daily(2) }, pro: { tenantQuota: daily(4) } }
  const of: Record<string, string> = { acme: 'free' }
  const [{ host: here }, { host: there }] = [
    await hostWithPlans(t, { plans }, { of, database }),
    await hostWithPlans(t, { plans }, { of, database }),
  ]
  const { key } = await keyOf(here, 'acme')
  t.equal(await statusOf(here, key), 200)
  t.equal(await statusOf(there, key), 200)
  for (const host of [here, there]) t.match(await get(host, key), { status: 429 })

  of['acme'] = 'pro'
  await here.app.svc.auth.planChanged('acme')
  t.match(
    await get(here, key),
    { status: 200, headers: { ratelimit: /r=1;/ } },
    'what was used counts',
  )
  await until(async () => (await statusOf(there, key)) === 200)
  t.equal(await statusOf(here, key), 429)

  of['acme'] = 'free'
  await here.app.svc.auth.planChanged('acme')
  t.match(await get(here, key), { status: 429, headers: { 'ratelimit-policy': /q=2;/ } })
  t.ok(
    await until(async () =>
      /q=2;/.test(String((await get(there, key)).headers['ratelimit-policy'])),
    ),
  )
})

t.test('what was used counts by a plan with another period too', async (t) => {
  const plans = {
    daily: { tenantQuota: daily(100) },
    monthly: { tenantQuota: { limit: 10, period: 'month' as const } },
    trial: { tenantQuota: { limit: 8, period: 'total' as const } },
  }
  const { host, plans: of } = await hostWithPlans(t, { plans }, { of: { acme: 'monthly' } })
  const { key } = await keyOf(host, 'acme')
  const left = async () => {
    const { headers } = await get(host, key)
    return Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1])
  }
  const changeTo = (name: string) => {
    of['acme'] = name
    return host.app.svc.auth.planChanged('acme')
  }
  t.equal(await left(), 9)
  t.equal(await left(), 8)
  await changeTo('daily')
  t.equal(await left(), 97)
  t.equal(await left(), 96)
  await changeTo('trial')
  // What the host held ahead of need for the other quota is given back.
  t.ok(
    await until(async () => {
      const verified = await host.app.svc.auth.verifyApiKey({ key, cost: 0 })
      return verified.remaining === 4
    }),
  )
  // A refusal from before that is kept for a moment: it takes nothing.
  t.ok(await until(async () => (await left()) === 3))
  t.equal((await get(host, key, '/dear')).status, 200)
  t.match(await get(host, key), { status: 429, body: { code: 'SVC_AUTH_QUOTA_EXCEEDED' } })
  await changeTo('monthly')
  t.equal(await left(), 1)
})

t.test('a change of plan in a transaction holds from its commit on', async (t) => {
  const { host, plans } = await hostWithPlans(
    t,
    { plans: { free: { keyLimits: perMinute(1) }, pro: {} } },
    { of: { acme: 'free' } },
  )
  const { svc } = host.app
  const { key } = await keyOf(host, 'acme')
  t.equal(await statusOf(host, key), 200)
  t.equal(await statusOf(host, key), 429)
  plans['acme'] = 'pro'
  const rolledBack = svc.transaction(async (db) => {
    await svc.auth.planChanged('acme', { db })
    throw new Error('no')
  })
  await t.rejects(rolledBack, { message: 'no' })
  await svc.transaction(async (db) => {
    await svc.auth.planChanged('acme', { db })
    t.equal(await statusOf(host, key), 429)
  })
  await until(async () => (await statusOf(host, key)) === 200)
  for (const tenant of ['', 'a b', null, 5, undefined]) {
    await t.rejects(svc.auth.planChanged(tenant as string), { code: 'SVC_INVALID_INPUT' })
  }
  const globex = svc.auth.as({ tenant: 'globex' })
  await t.rejects(globex.planChanged('acme'), { code: 'SVC_FOREIGN_TENANT' })
})

t.test('a plan is asked for again after a minute', async (t) => {
  const { advance } = await import('@svc/testing')
  const { host, plans, asked } = await hostWithPlans(
    t,
    { plans: { free: {}, pro: {} } },
    { of: { acme: 'free' } },
  )
  const { key } = await keyOf(host, 'acme')
  t.equal(await statusOf(host, key), 200)
  const before = asked.length
  plans['acme'] = 'pro'
  await advance(host.app, 60)
  t.equal(await statusOf(host, key), 200)
  t.equal(asked.length, before + 1)
})

t.test('where nobody knows the plan, requests get a 503, and the log one line', async (t) => {
  const log = logOf()
  let isAway = false
  const { host } = await hostWithPlans(
    t,
    {
      plans: { pro: {} },
      planOf: async () => {
        if (isAway) throw new Error('the table of customers is away')
        return 'pro'
      },
    },
    { fastify: { logger: { stream: log } } },
  )
  const [known, cold] = [await keyOf(host, 'acme'), await keyOf(host, 'globex')]
  const operator = await keyOf(host, null)
  t.equal(await statusOf(host, known.key), 200)
  isAway = true
  for (const tenant of ['acme', 'globex']) await host.app.svc.auth.planChanged(tenant)
  for (const { key } of [known, cold, cold]) {
    t.match(await get(host, key), {
      status: 503,
      headers: { 'retry-after': '1' },
      body: { statusCode: 503, code: 'SVC_AUTH_PLAN_UNKNOWN' },
    })
  }
  t.equal(await statusOf(host, operator.key), 200, 'the operator has no plan')
  t.equal(log.text().match(/customers is away/g)?.length, 1)

  const { auth } = host.app.svc
  t.match(await auth.validateApiKey(known.key), { valid: true })
  await t.rejects(auth.verifyApiKey({ key: known.key }), { code: 'SVC_AUTH_PLAN_UNKNOWN' })
  t.match(await auth.updateApiKey({ id: known.id, enabled: false }), { enabled: false })
  await t.rejects(auth.createApiKey({ userId: cold.userId }), {
    code: 'SVC_AUTH_PLAN_UNKNOWN',
    statusCode: 503,
  })
  isAway = false
  await auth.planChanged('globex')
  t.equal(await statusOf(host, cold.key), 200)
  t.equal(await statusOf(host, known.key), 401)
})

t.test('a planOf that does not answer counts as away after two seconds', async (t) => {
  const { host } = await hostWithPlans(t, {
    plans: { default: { keyLimits: perMinute(1) } },
    planOf: () => new Promise(() => {}),
  })
  const { key } = await keyOf(host, 'acme')
  t.match(await get(host, key), {
    status: 200,
    headers: { 'ratelimit-policy': '"1-per-60s";q=1;w=60' },
  })
  t.equal(await statusOf(host, key), 429)
})

t.test('a plan bounds how many keys its tenants have', async (t) => {
  const { host, plans } = await hostWithPlans(
    t,
    { maxKeysPerTenant: 3, plans: { free: { maxKeys: 1 }, pro: { maxKeys: 5 } } },
    { of: { acme: 'free' } },
  )
  const { auth } = host.app.svc
  const first = await keyOf(host, 'acme')
  const { userId } = first
  await t.rejects(auth.createApiKey({ userId }), {
    code: 'SVC_AUTH_LIMIT_REACHED',
    message: /at most 1 key/,
  })
  plans['acme'] = 'pro'
  await auth.planChanged('acme')
  await auth.createApiKey({ userId })
  await auth.createApiKey({ userId })
  await t.rejects(auth.createApiKey({ userId }), {
    code: 'SVC_AUTH_LIMIT_REACHED',
    message: /at most 3 key/,
  })

  plans['acme'] = 'free'
  await auth.planChanged('acme')
  t.equal(await statusOf(host, first.key), 200, 'those that are there stay valid')
  await host.endKey(first.id)
  const prolonged = auth.updateApiKey({ id: first.id, expiresAt: '2999-01-01T00:00:00Z' })
  await t.rejects(prolonged, { code: 'SVC_AUTH_LIMIT_REACHED' })
  await host.app.svc.transaction(async (db) => {
    const user = await auth.createUser({ email: 'a@new.example', name: 'A', tenant: 'new' }, { db })
    plans['new'] = 'free'
    await auth.createApiKey({ userId: user.id }, { db })
  })
})

t.test("a tenant's key gives no key more than the plan does", async (t) => {
  const { host } = await hostWithPlans(t, {
    plans: { default: { keyLimits: perMinute(100), keyQuota: daily(1000) } },
  })
  const { ask } = host
  const manager = await keyOf(host, 'acme', { scopes: ['auth:manage'] })
  const { key } = manager
  const path = `/_auth/users/${manager.userId}/keys`
  const refused = { status: 403, body: { code: 'SVC_AUTH_NOT_GRANTABLE' } }
  const more: object[] = [
    { limits: perMinute(101) },
    { limits: [{ limit: 100, perSeconds: 59 }] },
    { limits: [{ limit: 10_000, perSeconds: 3600 }] },
    { quota: daily(1001) },
  ]
  for (const body of more)
    t.match(await ask('POST', path, { key, body }), refused, JSON.stringify(body))
  for (const body of [{}, { limits: perMinute(50) }, { quota: daily(10) }]) {
    t.match(await ask('POST', path, { key, body }), { status: 201 }, JSON.stringify(body))
  }

  const ample = await ask('POST', path, { body: { limits: perMinute(5000), quota: daily(50_000) } })
  t.equal(ample.status, 201, 'the operator may give more')
  const change = (body: object, by = key) =>
    ask('PATCH', `/_auth/keys/${ample.body.id}`, { key: by, body })
  t.match(await change({ label: 'Ample' }), { status: 200 })
  t.match(await change({ limits: perMinute(2000) }), refused)
  t.match(await change({ quota: daily(20_000) }), refused)
  t.match(await change({ limits: perMinute(50) }), { status: 200 })
  t.match(
    await change({ limits: null, quota: null }),
    { status: 200 },
    'then it has what the plan gives',
  )

  const own = (body: object) => ask('PATCH', `/_auth/keys/${manager.id}`, { key, body })
  t.match(await own({ limits: perMinute(101) }), refused)
  t.match(
    await own({ limits: [{ limit: 50, perSeconds: 30 }] }),
    refused,
    'it would begin a new count',
  )
  t.match(await own({ limits: perMinute(90) }), { status: 200 })
  t.match(await own({ limits: null }), refused, 'it lifts nothing of its own')

  const acme = host.app.svc.auth.as({ tenant: 'acme' })
  await t.rejects(acme.createApiKey({ userId: manager.userId, limits: perMinute(101) }), {
    code: 'SVC_AUTH_NOT_GRANTABLE',
  })
})

t.test('imported keys have the limits of the plan', async (t) => {
  const { host } = await hostWithPlans(t, {
    plans: { default: { keyLimits: perMinute(1), maxKeys: 1 } },
  })
  const { userId } = await keyOf(host, 'acme')
  const sha256 = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from('foreign-key')))
  await host.app.svc.auth.importApiKeys([{ userId, sha256: sha256.toString('hex') }])
  t.equal(await statusOf(host, 'foreign-key'), 200)
  t.equal(await statusOf(host, 'foreign-key'), 429)
})

t.test('plans that are wrong keep the host from booting', async (t) => {
  const planOf = () => null
  const wrong: [auth: object, message: RegExp][] = [
    [{ plans: {} }, /the option "plans" needs the option "planOf"/],
    [{ planOf }, /the option "planOf" needs the option "plans"/],
    [{ planOf, plans: [] }, /"plans" must be an object of plans/],
    [{ planOf: 'free', plans: {} }, /"planOf" must be a function/],
    [{ planOf, plans: { free: null } }, /"plans.free" must be an object/],
    [{ planOf, plans: { free: { limits: [] } } }, /there is no option "plans.free.limits"/],
    [{ planOf, plans: { free: { maxKeys: -1 } } }, /"plans.free.maxKeys" must be an integer/],
    [
      { planOf, plans: { free: { tenantQuota: { limit: 1, period: 'year' } } } },
      /"plans.free.tenantQuota" must be a quota/,
    ],
    [
      { planOf, plans: { free: { keyQuota: { limit: 0, period: 'day' } } } },
      /"plans.free.keyQuota" must be a quota/,
    ],
    [
      { planOf, plans: { free: { tenantLimits: [{ limit: 1 }] } } },
      /"plans.free.tenantLimits" must be a list of limits/,
    ],
    [
      { planOf, plans: { free: { keyLimits: [...perMinute(1), ...perMinute(2)] } } },
      /"plans.free.keyLimits" must have one limit for each perSeconds/,
    ],
    [
      {
        planOf,
        plans: {
          free: { keyLimits: [1, 2, 3, 4].map((perSeconds) => ({ limit: 1, perSeconds })) },
        },
      },
      /"plans.free.keyLimits" must have at most 3 limits/,
    ],
  ]
  const database = await freshDatabase(t)
  for (const [auth, message] of wrong) {
    const boot = prepareHost(t, { database, auth })
    await t.rejects(boot, { code: 'SVC_CORE_INVALID_OPTION', message }, String(message))
  }
})
