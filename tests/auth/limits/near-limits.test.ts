/** How much of limits and quotas is used, and who is near them. */
import t from 'tap'
import { farFromEndOf } from '../../support/utc.ts'
import { startHost, withMe } from '../support/host.ts'

t.test('a key says how much of its quota and of each limit is used', async (t) => {
  await farFromEndOf('day')
  const { app, ask, makeKey } = await startHost(t, { after: withMe })
  const limits = [
    { limit: 5, perSeconds: 60 },
    { limit: 1000, perSeconds: 3600 },
  ]
  const { id, key } = await makeKey({ limits, quota: { limit: 100, period: 'day' } })
  for (let n = 0; n < 4; n++) await ask('GET', '/me', { key })
  const usage = {
    quota: { used: 4, limit: 100, resetsAt: nextDay() },
    limits: [
      { used: 4, limit: 5, perSeconds: 60 },
      { used: 4, limit: 1000, perSeconds: 3600 },
    ],
  }
  t.strictSame((await app.svc.auth.getApiKey({ id, include: 'usage' })).usage, usage)
  t.strictSame((await ask('GET', `/_auth/keys/${id}?include=usage`)).body.usage, usage)
  const { userId } = await app.svc.auth.getApiKey(id)
  for (const path of [`/keys?`, `/users/${userId}/keys?`]) {
    const { body } = await ask('GET', `/_auth${path}include=usage`)
    t.strictSame(body.find((one: { id: string }) => one.id === id).usage, usage, path)
  }
  t.notOk('usage' in (await ask('GET', `/_auth/keys/${id}`)).body, 'only where it is asked for')
  t.equal((await ask('GET', `/_auth/keys/${id}?include=all`)).status, 400)

  const unlimited = await makeKey()
  const none = await app.svc.auth.getApiKey({ id: unlimited.id, include: 'usage' })
  t.strictSame(none.usage, { quota: null, limits: [] })
  const total = await makeKey({ quota: { limit: 10, period: 'total' } })
  const ofTotal = await app.svc.auth.getApiKey({ id: total.id, include: 'usage' })
  t.strictSame(ofTotal.usage?.quota, { used: 0, limit: 10, resetsAt: null })
})

const nextDay = (): string => {
  const now = new Date()
  return new Date(
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1),
  ).toISOString()
}

t.test('keys and tenants near their limits are listed, the nearest first', async (t) => {
  await farFromEndOf('day')
  const { app, ask, makeKey } = await startHost(t, {
    after: withMe,
    auth: {
      plans: {
        small: {
          keyQuota: { limit: 4, period: 'day' },
          tenantQuota: { limit: 10, period: 'month' },
        },
      },
      planOf: (tenant) => (tenant === 'acme' ? 'small' : null),
    },
  })
  const use = async (key: string, times: number) => {
    for (let n = 0; n < times; n++) await ask('GET', '/me', { key })
  }
  const full = await makeKey({ label: 'Full', quota: { limit: 5, period: 'day' } })
  const half = await makeKey({ label: 'Half', limits: [{ limit: 6, perSeconds: 3600 }] })
  const revoked = await makeKey({ quota: { limit: 1, period: 'day' } })
  const planned = await makeKey({ tenant: 'acme', label: 'Planned' })
  await use(full.key, 5)
  await use(half.key, 3)
  await use(revoked.key, 1)
  await use(planned.key, 4)
  const { usage } = await app.svc.auth.getApiKey({ id: planned.id, include: 'usage' })
  t.match(usage, { plan: 'small', quota: { used: 4, limit: 4 } })
  await app.svc.auth.revokeApiKey(revoked.id)

  const facts = (key: { id: string }, label: string, tenant: string | null) => ({
    keyId: key.id,
    label,
    tenant,
  })
  const ofFull = { ...facts(full, 'Full', null), used: 5, limit: 5, of: 'quota', share: 1 }
  const ofPlanned = {
    ...facts(planned, 'Planned', 'acme'),
    used: 4,
    limit: 4,
    of: 'quota',
    share: 1,
  }
  const ofHalf = { ...facts(half, 'Half', null), used: 3, limit: 6, of: 'limit', share: 0.5 }
  const near = await app.svc.auth.nearLimits()
  t.same(new Set(near.keys), new Set([ofFull, ofPlanned]), 'at 80 % and more')
  t.strictSame(near.tenants, [])
  const { body } = await ask('GET', '/_auth/near-limits?over=0.4')
  t.strictSame(body.keys.at(-1), ofHalf)
  t.equal(body.keys.length, 3)
  t.strictSame(body.tenants, [{ tenant: 'acme', used: 4, limit: 10, of: 'quota', share: 0.4 }])
  t.strictSame(await app.svc.auth.nearLimits({ tenant: 'acme', over: 0.9 }), {
    keys: [ofPlanned],
    tenants: [],
  })
  const ofTenant = app.svc.auth.as({ tenant: 'acme' })
  t.strictSame((await ofTenant.nearLimits({ over: 0 })).keys, [ofPlanned], 'its own alone')
})

t.test('among thousands of tenants those that use the most are compared', async (t) => {
  await farFromEndOf('day')
  const tenantQuota = { limit: 100, period: 'month' } as const
  const { app } = await startHost(t, {
    after: withMe,
    auth: { plans: { small: { tenantQuota } }, planOf: () => 'small' },
  })
  await app.svc.database.query(
    `insert into svc."__svc.auth.quotas" (subject, period, period_start, allotted)
     select 'tenant:' || name, 'month', svc."__svc.auth.period_start"('month', now()), allotted
       from (select 'a' || n, 1 from generate_series(1, 1500) as n union all select 'zoo', 90) as of (name, allotted)`,
  )
  t.match((await app.svc.auth.nearLimits()).tenants, [{ tenant: 'zoo', used: 90, share: 0.9 }])
})
