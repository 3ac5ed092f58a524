/** Links into the portal, and what a tenant is there. */
import t from 'tap'
import { until } from '../support/until.ts'
import { startHost } from './support/host.ts'

const DEFAULT = [
  'webhooks:read',
  'webhooks:write',
  'deliveries:read',
  'deliveries:write',
  'events:read',
]

t.test('a link signs its tenant in', async (t) => {
  const { app, ask, follow } = await startHost(t)
  const link = await app.svc.console.portalLink({ tenant: 'acme', userId: 'ada' })
  t.match(link, /^\/console\/portal\/[\w-]{43}$/)
  const answer = await ask('HEAD', link)
  t.equal(answer.status, 200, 'the page: a look at the link does not use it up')
  const page = await follow(link)
  t.match((await page.session()).body, {
    signedIn: true,
    via: 'portal',
    tenant: 'acme',
    userId: 'ada',
    operator: false,
    can: DEFAULT,
  })
  const made = await page.call('webhooks.create', { url: 'https://a.example/', events: ['*'] })
  t.match(made, { status: 200, body: { tenant: 'acme', secret: /^whsec_/ } })
  t.match((await page.call('webhooks.get', { id: made.body.id })).body, { tenant: 'acme' })
  t.notOk((await page.call('webhooks.get', { id: made.body.id })).text.includes('whsec_'))
  const rotated = await page.call('webhooks.rotateSecret', { id: made.body.id })
  t.same(Object.keys(rotated.body), ['secret'])
  t.match((await page.call('keys.list')).status, 403)
  t.match(await app.svc.audit.list({ action: 'webhook.create' }), [
    { actor: { kind: 'console', userId: 'ada', keyId: null }, tenant: 'acme', ip: '127.0.0.1' },
  ])
})

t.test('an operator makes a link on the page, and grants only rights of its own', async (t) => {
  const { app, signIn, keyOf, follow, visitor } = await startHost(t)
  const page = await signIn()
  const made = await page.call('portal.link', {
    tenant: 'acme',
    can: ['keys:read'],
    expiresInSeconds: 60,
  })
  t.match(made, { status: 200, body: { link: /^\/console\/portal\/[\w-]{43}$/ } })
  t.match((await (await follow(made.body.link)).session()).body, {
    tenant: 'acme',
    can: ['keys:read'],
  })
  const usual = await page.call('portal.link', { tenant: 'acme' })
  t.same((await (await follow(usual.body.link)).session()).body.can, DEFAULT)
  t.match(await app.svc.audit.list({ action: 'portal.link', limit: 1 }), [
    { tenant: 'acme', target: { kind: 'tenant', id: 'acme' }, actor: { kind: 'console' } },
  ])
  for (const input of [{ tenant: '' }, { tenant: 'acme', can: ['health:read', 'all'] }, {}]) {
    t.match(await page.call('portal.link', input), { status: 400 })
  }
  t.match((await page.call('portal.rights')).body.items[0], { name: 'webhooks:read', usual: true })
  // Whoever manages webhooks alone makes no links.
  const { key } = await keyOf(['webhooks:manage'])
  t.equal((await (await signIn(key)).call('portal.link', { tenant: 'acme' })).status, 403)
  t.equal((await visitor().call('portal.link', { tenant: 'acme' })).status, 401)
})

t.test('a link grants no right that its maker does not have', async (t) => {
  const can = ['tenants:read', 'tenants:write', 'webhooks:read']
  const { follow, visitor } = await startHost(t, {
    console: { access: () => ({ tenant: null, can }) },
  })
  const refused = await visitor().call('portal.link', { tenant: 'acme', can: ['keys:write'] })
  t.match(refused, { status: 403, body: { code: 'SVC_CONSOLE_FORBIDDEN' } })
  const { body } = await visitor().call('portal.link', { tenant: 'acme' })
  t.same((await (await follow(body.link)).session()).body.can, ['webhooks:read'])
})

t.test('a link works once over all processes, and not for long', async (t) => {
  const one = await startHost(t)
  const other = await startHost(t, { database: one.database })
  const link = await one.app.svc.console.portalLink({ tenant: 'acme' })
  const answers = await Promise.all([one, other, one, other].map((host) => host.ask('GET', link)))
  const begun = answers.filter(({ headers }) => headers['set-cookie'] !== undefined)
  t.equal(begun.length, 1)
  for (const { status, headers } of answers) {
    t.equal(status, 303)
    t.match(headers['location'], /^\/console\/(\?link=used)?$/)
  }
  const late = await one.app.svc.console.portalLink({ tenant: 'acme', expiresInSeconds: 1 })
  await one.app.svc.database.query(
    `update svc."__svc.console.portal_codes" set expires_at = now() - interval '1 second'`,
  )
  t.match((await one.ask('GET', late)).headers, {
    location: '/console/?link=used',
    'set-cookie': undefined,
  })
})

t.test('the rights of a link are set when it is made', async (t) => {
  const { app, follow } = await startHost(t, {
    console: { origin: 'https://console.example', path: '/portal' },
  })
  const link = await app.svc.console.portalLink({ tenant: 'acme', can: 'all' })
  t.match(link, /^https:\/\/console\.example\/portal\/portal\//)
  const path = new URL(link).pathname
  const page = await follow(path)
  const { can } = (await page.session()).body
  t.ok(can.includes('keys:write'))
  for (const right of ['health:read', 'tenants:read', 'sessions:write']) {
    t.notOk(can.includes(right), `${right} is the operator's`)
  }
  for (const wrong of [
    {},
    { tenant: '' },
    { tenant: null },
    { tenant: 'acme', can: ['everything'] },
    { tenant: 'acme', expiresInSeconds: 0 },
    { tenant: 'acme', expiresInSeconds: 10_000_000 },
    { tenant: 'acme', ttl: 5 },
  ]) {
    await t.rejects(app.svc.console.portalLink(wrong as never), { code: 'SVC_INVALID_INPUT' })
  }
})

t.test('keys of a portal get what the option scopes says, and no more', async (t) => {
  const { app, follow } = await startHost(t, {
    auth: { scopes: ['orders:read', 'internal'] },
    console: { scopes: ['read', 'orders:read'] },
  })
  const page = await follow(await app.svc.console.portalLink({ tenant: 'acme', can: 'all' }))
  const user = await page.call('users.create', { email: 'a@b.co', name: 'A' })
  const made = await page.call('keys.create', { userId: user.body.id, scopes: ['orders:read'] })
  t.match(made, { status: 200, body: { tenant: 'acme', key: /^svc_/ } })
  for (const scopes of [['admin'], ['internal'], ['auth:manage']]) {
    const answer = await page.call('keys.create', { userId: user.body.id, scopes })
    t.match(answer, { status: 403, body: { code: 'SVC_AUTH_SCOPE_NOT_GRANTABLE' } })
  }
  const { items } = (await page.call('keys.scopes')).body
  t.match(
    items.find(({ name }: { name: string }) => name === 'admin'),
    { grantable: false },
  )
  t.match(
    items.find(({ name }: { name: string }) => name === 'orders:read'),
    { grantable: true },
  )
})

t.test('in an iframe of another site the cookie has the attributes for it', async (t) => {
  const { app, ask } = await startHost(t, {
    console: { frameAncestors: ['https://app.example'] },
    fastify: { trustProxy: true },
  })
  const link = await app.svc.console.portalLink({ tenant: 'acme' })
  const answer = await ask('GET', link, { headers: { 'x-forwarded-proto': 'https' } })
  t.match(answer.headers['set-cookie'], /; HttpOnly; Secure; SameSite=None; Partitioned$/)
  const page = await ask('GET', '/console/')
  t.match(page.headers['content-security-policy'], /frame-ancestors https:\/\/app\.example$/)
  t.equal(page.headers['x-frame-options'], undefined)
})

t.test('sessions and links go with their tenant, also by a host without the console', async (t) => {
  const { app, database, follow } = await startHost(t)
  const other = await startHost(t, { database, console: null })
  await follow(await app.svc.console.portalLink({ tenant: 'acme' }))
  await app.svc.console.portalLink({ tenant: 'acme' })
  const page = await follow(await app.svc.console.portalLink({ tenant: 'globex' }))
  t.match(await other.app.svc.eraseTenant('acme'), { sessions: 2 })
  t.match(await app.svc.eraseTenant('acme'), { sessions: 0 })
  t.match((await page.session()).body, { signedIn: true, tenant: 'globex' })
})

t.test('a link of a restricted key gives no right to make keys', async (t) => {
  const { app, signIn, keyOf } = await startHost(t)
  const refused = { status: 403, body: { code: 'SVC_CONSOLE_FORBIDDEN' } }
  for (const restriction of [
    { expiresAt: '2999-01-01T00:00:00Z' },
    { allowedIps: ['127.0.0.0/8', '::1'] },
    { limits: [{ limit: 100, perSeconds: 60 }] },
    { quota: { limit: 100, period: 'day' as const } },
  ]) {
    const { id, key } = await keyOf(['admin'])
    await app.svc.auth.updateApiKey({ id, ...restriction })
    const page = await signIn(key)
    for (const right of ['keys:write', 'users:write']) {
      const link = { tenant: 'acme', can: [right] }
      t.match(await page.call('portal.link', link), refused, JSON.stringify(restriction))
    }
    const offered = (await page.call('portal.rights')).body.items
    t.notMatch(JSON.stringify(offered), /(keys|users):write/)
    t.equal((await page.call('portal.link', { tenant: 'acme' })).status, 200)
  }
})

t.test('eraseTenant ends sessions before it erases anything else', async (t) => {
  const { app, follow } = await startHost(t)
  await app.svc.webhooks.register({ url: 'https://a.example/', events: ['*'], tenant: 'acme' })
  const page = await follow(await app.svc.console.portalLink({ tenant: 'acme' }))
  // The webhooks cannot be deactivated before this transaction has ended.
  const erasing = await app.svc.transaction(async (db) => {
    await db.query(
      `select 1 from svc."__svc.webhooks.registrations" where tenant = 'acme' for update`,
    )
    const begun = app.svc.eraseTenant('acme')
    await until(
      () => page.session(),
      ({ body }) => body.signedIn === false,
    )
    return { begun }
  })
  t.match(await erasing.begun, { sessions: 1, webhooks: 1 })
})
