// promise: A session ends with its key, and a portal link works once over all processes
/** Links into the portal, and what a tenant is there. */
import { advance } from '@svc/testing'
import t from 'tap'
import { until } from '../support/until.ts'
import { BOOTSTRAP_KEY, startHost } from './support/host.ts'

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

t.test('a link says how its page looks, and its session keeps that', async (t) => {
  const { app, follow, signIn } = await startHost(t)
  const { portalLink } = app.svc.console
  const page = await follow(await portalLink({ tenant: 'acme', embed: true, colorScheme: 'dark' }))
  for (const _ of ['at first', 'after a reload']) {
    t.match((await page.session()).body, { embed: true, colorScheme: 'dark' })
  }
  const plain = { embed: false, colorScheme: 'auto' }
  t.match((await (await follow(await portalLink({ tenant: 'acme' }))).session()).body, plain)
  const operator = await signIn()
  t.match((await operator.session()).body, plain)
  const made = await operator.call('portal.link', { tenant: 'acme', embed: true })
  t.match((await (await follow(made.body.link)).session()).body, { embed: true })
  const wrong = { code: 'SVC_INVALID_INPUT' }
  const unsure = (look: object) => portalLink({ tenant: 'acme', ...look })
  await t.rejects(unsure({ embed: 'yes' }), { ...wrong, message: /embed must be true or false/ })
  await t.rejects(unsure({ colorScheme: 'sepia' }), { ...wrong, message: /'light', 'dark' or/ })
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

t.test('what is offered for keys is what can be given, roles and namespaces too', async (t) => {
  const auth = {
    scopes: ['invoices:read', 'invoices:write', 'internal'],
    roles: { viewer: ['invoices:read'], clerk: ['invoices:read', 'internal'], none: [] },
  }
  const can = ['keys:read', 'keys:write']
  const rows: [scopes: string[] | undefined, offered: string[]][] = [
    [undefined, ['read', 'write']],
    [['invoices:read'], ['invoices:read', 'role:viewer']],
    [
      ['role:viewer', 'read'],
      ['read', 'invoices:read', 'role:viewer'],
    ],
    [['invoices:*'], ['invoices:*', 'invoices:read', 'invoices:write', 'role:viewer']],
  ]
  for (const [scopes, offered] of rows) {
    const { app, follow } = await startHost(t, { auth, console: { ...(scopes && { scopes }) } })
    const page = await follow(await app.svc.console.portalLink({ tenant: 'acme', can }))
    const { items } = (await page.call('keys.scopes')).body as {
      items: { name: string; grantable: boolean }[]
    }
    const names = items.filter(({ grantable }) => grantable).map(({ name }) => name)
    t.same(names.toSorted(), offered.toSorted(), String(scopes))

    // Whose key it is is chosen by name, without the right to see users.
    await app.svc.auth.createUser({ email: 'b@b.co', name: 'Bob', tenant: 'globex' })
    const { id } = await app.svc.auth.createUser({ email: 'a@b.co', name: 'Ada', tenant: 'acme' })
    t.same((await page.call('keys.owners')).body.items, [{ id, name: 'Ada' }])
    t.equal((await page.call('users.list')).status, 403)
    for (const { name, grantable } of items) {
      const { status } = await page.call('keys.create', { userId: id, scopes: [name] })
      const isFree = ['read', 'write'].includes(name)
      t.equal(status, grantable || isFree ? 200 : 403, name)
    }
  }
})

t.test('scopes that no key can have, or that are too much, are an error at boot', async (t) => {
  const auth = { scopes: ['invoices:read'], roles: { boss: ['admin'], keeper: ['auth:manage'] } }
  for (const scope of ['nope', 'role:nope', 'orders:*', 'auth:*', 'role:boss', 'role:keeper']) {
    const boot = startHost(t, { auth, console: { scopes: ['read', scope] } })
    await t.rejects(boot, { code: 'SVC_CORE_INVALID_OPTION', message: /"scopes"/ }, scope)
  }
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
  await app.svc.webhooks.register({ url: 'https://a.example/', events: ['*'], tenant: 'acme' })
  const named = { target: { name: 'https://a.example/' } }
  t.match(await app.svc.audit.list({ tenant: 'acme' }), [named])
  await follow(await app.svc.console.portalLink({ tenant: 'acme' }))
  await app.svc.console.portalLink({ tenant: 'acme' })
  const page = await follow(await app.svc.console.portalLink({ tenant: 'globex' }))
  t.match(await other.app.svc.eraseTenant('acme'), { sessions: 2 })
  t.match(await app.svc.eraseTenant('acme'), { sessions: 0 })
  const rows = await app.svc.audit.list({ tenant: 'acme' })
  t.ok(rows.length > 3)
  t.notMatch(JSON.stringify(rows), /a\.example/, 'the names go with the changes')
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
    await until(async () => (await page.session()).body.signedIn === false)
    return { begun }
  })
  t.match(await erasing.begun, { sessions: 1, webhooks: 1 })
})

t.test('a session, its links and the sessions that these began end with its key', async (t) => {
  const { app, ask, signIn, keyOf, follow } = await startHost(t)
  const { auth } = app.svc
  const ways: [how: string, end: (id: string) => Promise<unknown>][] = [
    ['revoked', (id) => auth.revokeApiKey(id)],
    ['disabled', (id) => auth.updateApiKey({ id, enabled: false })],
    ['without admin', (id) => auth.updateApiKey({ id, scopes: ['webhooks:manage'] })],
    ['of a deleted user', async (id) => auth.deleteUser((await auth.getApiKey(id)).userId)],
    ['rotated away', (id) => auth.rotateApiKey({ id, overlapSeconds: 0 })],
    [
      'expired',
      (id) =>
        app.svc.database.query(
          `update svc."__svc.auth.api_keys" set expires_at = now() - interval '1 s' where id = $1`,
          [id],
        ),
    ],
  ]
  for (const [how, end] of ways) {
    const { id, key } = await keyOf(['admin'])
    const operator = await signIn(key)
    const linkOf = async () => (await operator.call('portal.link', { tenant: 'acme' })).body.link
    const [followed, kept] = [await linkOf(), await linkOf()]
    const page = await follow(followed)
    t.equal((await page.call('webhooks.list')).status, 200, how)
    await end(id)
    const own = how === 'without admin' ? 200 : 401
    t.equal((await operator.call('webhooks.list')).status, own, `${how}: that of the key`)
    t.equal((await page.call('webhooks.list')).status, 401, `${how}: that of the link`)
    t.match(
      (await ask('GET', kept)).headers,
      { location: /link=used$/, 'set-cookie': undefined },
      how,
    )
    if (how !== 'disabled') continue
    await auth.updateApiKey({ id, enabled: true })
    for (const one of [operator, page])
      t.equal((await one.call('webhooks.list')).status, 401, 'it does not come back')
  }
})

t.test('a link of the bootstrap key ends when that key changes', async (t) => {
  let secret = BOOTSTRAP_KEY
  const { app, ask, signIn, follow } = await startHost(t, {
    core: { secrets: (name) => (name === 'BOOTSTRAP_KEY' ? secret : null) },
  })
  const operator = await signIn()
  const linkOf = async () => (await operator.call('portal.link', { tenant: 'acme' })).body.link
  const [followed, kept] = [await linkOf(), await linkOf()]
  const page = await follow(followed)
  t.equal((await page.call('webhooks.list')).status, 200)
  const ofCode = await follow(await app.svc.console.portalLink({ tenant: 'acme' }))
  secret = 'another-bootstrap-key'
  await advance(app, 5)
  t.equal((await page.call('webhooks.list')).status, 401)
  t.match((await ask('GET', kept)).headers, { location: /link=used$/ })
  t.equal((await ofCode.call('webhooks.list')).status, 200, 'a link of the application has no key')
})

t.test('a link keeps the addresses and the expiry of its key', async (t) => {
  const { app, ask, signIn, keyOf, visitor } = await startHost(t, { fastify: { trustProxy: true } })
  const { id, key } = await keyOf(['admin'])
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  await app.svc.auth.updateApiKey({ id, allowedIps: ['127.0.0.1'], expiresAt: soon })
  const operator = await signIn(key)
  const week = { tenant: 'acme', expiresInSeconds: 604_800 }
  const made = await operator.call('portal.link', week)
  t.equal(made.body.expiresAt, soon)
  const elsewhere = { 'x-forwarded-for': '203.0.113.9' }
  t.match((await ask('GET', made.body.link, { headers: elsewhere })).headers, {
    location: /link=used$/,
    'set-cookie': undefined,
  })
  const begun = await ask('GET', made.body.link)
  const page = visitor(String(begun.headers['set-cookie']).split(';')[0])
  t.match((await page.session()).body, { tenant: 'acme', expiresAt: soon })
  t.equal((await page.call('webhooks.list', {}, elsewhere)).status, 401)
  t.equal((await page.call('webhooks.list')).status, 200)
  // What restricts the key now is what counts.
  await app.svc.auth.updateApiKey({ id, allowedIps: ['192.0.2.0/24'] })
  t.equal((await page.call('webhooks.list')).status, 401)
})

t.test('a link whose rights its key no longer gives ends', async (t) => {
  const { app, signIn, keyOf, follow } = await startHost(t)
  const { id, key } = await keyOf(['admin'])
  const operator = await signIn(key)
  const can = ['keys:write', 'keys:read']
  const made = await operator.call('portal.link', { tenant: 'acme', can })
  const page = await follow(made.body.link)
  t.equal((await page.call('keys.list')).status, 200)
  await app.svc.auth.updateApiKey({ id, limits: [{ limit: 100, perSeconds: 60 }] })
  t.equal(
    (await page.call('keys.list')).status,
    401,
    'a restricted key makes no keys without restrictions',
  )
})

t.test('links that nobody followed are listed, and can be withdrawn', async (t) => {
  const { app, ask, signIn, keyOf, follow } = await startHost(t)
  const { id: keyId, key } = await keyOf(['admin'])
  const operator = await signIn(key)
  const made = (
    await operator.call('portal.link', { tenant: 'acme', userId: 'ada', can: ['keys:read'] })
  ).body
  await app.svc.console.portalLink({ tenant: 'globex' })
  await follow(await app.svc.console.portalLink({ tenant: 'acme' }))
  const listed = await operator.call('portal.links')
  t.match(listed.body.items, [
    { tenant: 'globex', keyId: null },
    {
      id: made.id,
      tenant: 'acme',
      userId: 'ada',
      can: ['keys:read'],
      keyId,
      expiresAt: made.expiresAt,
    },
  ])
  t.equal(listed.body.items.length, 2)
  t.notOk(listed.text.includes(made.link.slice(-43)), 'its text is not kept')
  t.same(await app.svc.console.listLinks(), listed.body.items)
  t.equal((await operator.call('portal.links', { tenant: 'acme' })).body.items.length, 1)
  t.equal((await app.svc.console.listLinks({ tenant: 'acme' })).length, 1)

  t.equal((await operator.call('portal.revoke', { id: made.id })).status, 200)
  t.match((await ask('GET', made.link)).headers, { location: /link=used$/ })
  const gone = { status: 404, body: { code: 'SVC_CONSOLE_LINK_NOT_FOUND' } }
  for (const id of [made.id, 'acme', '\0'])
    t.match(await operator.call('portal.revoke', { id }), gone)
  const [link] = await app.svc.console.listLinks()
  await app.svc.console.revokeLink(link?.id ?? '')
  t.same(await app.svc.console.listLinks(), [])
  await t.rejects(app.svc.console.revokeLink(link?.id ?? ''), {
    code: 'SVC_CONSOLE_LINK_NOT_FOUND',
  })
  t.match(await app.svc.audit.list({ action: 'portal.revoke' }), [
    { tenant: 'globex', actor: { kind: 'process' }, target: { kind: 'link', id: link?.id } },
    { tenant: 'acme', actor: { kind: 'console', keyId }, target: { kind: 'link', id: made.id } },
  ])
})

t.test('the sessions and links of a tenant or a person are ended, in every process', async (t) => {
  const one = await startHost(t)
  const other = await startHost(t, { database: one.database })
  const { console } = one.app.svc
  const linkOf = (tenant: string, userId: string | null) => console.portalLink({ tenant, userId })
  const begin = async (tenant: string, userId: string | null) =>
    other.visitor((await one.follow(await linkOf(tenant, userId))).cookie)
  const isIn = async (page: typeof ada) => (await page.session()).body.signedIn
  const ada = await begin('acme', 'ada')
  const [bob, elsewhere, nobody] = [
    await begin('acme', 'bob'),
    await begin('globex', 'ada'),
    await begin('acme', null),
  ]
  const unused = await linkOf('acme', 'ada')
  t.same(await console.endSessions({ tenant: 'acme', userId: 'ada' }), { ended: 2 })
  t.same(await Promise.all([ada, bob, elsewhere, nobody].map(isIn)), [false, true, true, true])
  t.match((await other.ask('GET', unused)).headers, { location: /link=used$/ })
  t.same(await other.app.svc.console.endSessions({ userId: 'ada' }), { ended: 1 })
  t.same(await console.endSessions({ tenant: 'acme' }), { ended: 2 })
  t.same(await Promise.all([bob, elsewhere, nobody].map(isIn)), [false, false, false])
  t.same(await console.endSessions({ tenant: 'acme', userId: undefined }), { ended: 0 })
  const ended = await one.app.svc.audit.list({ action: 'session.end' })
  t.equal(ended.length, 4)
  t.match(ended[0], { actor: { kind: 'process' }, target: { kind: 'session' } })

  const { id, key } = await one.keyOf(['admin'])
  const { userId } = await one.app.svc.auth.getApiKey(id)
  const operator = await one.signIn(key)
  t.same(await console.endSessions({ userId }), { ended: 1 }, 'the id of the user of a key')
  t.equal(await isIn(operator), false)
  for (const wrong of [
    {},
    undefined,
    { tenant: '' },
    { tenant: null },
    { userId: 7 },
    { tenants: 'acme' },
  ]) {
    await t.rejects(console.endSessions(wrong as never), { code: 'SVC_INVALID_INPUT' })
  }
})

t.test('a session lasts as long as the option says, from the sign-in on', async (t) => {
  const { app, ask, signIn } = await startHost(t, { console: { sessionSeconds: 120 } })
  const page = await signIn()
  const link = await app.svc.console.portalLink({ tenant: 'acme' })
  t.match((await ask('GET', link)).headers['set-cookie'], /Max-Age=120;/)
  await advance(app, 100)
  t.match((await page.session()).body, { signedIn: true })
  await advance(app, 21)
  t.match((await page.session()).body, { signedIn: false }, 'a call does not prolong it')
  for (const sessionSeconds of [0, -1, 1.5, '60', 2_592_001]) {
    const wrong = startHost(t, { console: { sessionSeconds: sessionSeconds as number } })
    await t.rejects(wrong, { code: 'SVC_CORE_INVALID_OPTION', message: /sessionSeconds/ })
  }
})

t.test(
  'a session without a key tightens what an operator set on a key, and loosens none of it',
  async (t) => {
    const { app, follow } = await startHost(t)
    const { auth } = app.svc
    const user = await auth.createUser({ email: 'a@b.co', name: 'A', tenant: 'acme' })
    const can = ['keys:read', 'keys:write'] as const
    const page = await follow(await app.svc.console.portalLink({ tenant: 'acme', can }))
    const update = (id: string, fields: object) => page.call('keys.update', { id, ...fields })
    const refused = {
      status: 403,
      body: { code: 'SVC_AUTH_NOT_GRANTABLE', message: /nor loosen what an operator has set/ },
    }
    const later = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const [hour, twoHours] = [later(1), later(2)]
    type Row = [set: object, looser: object[], stricter: object]
    const rows: Row[] = [
      [
        { quota: { limit: 100, period: 'month' } },
        [
          { quota: null },
          { quota: { limit: 101, period: 'month' } },
          { quota: { limit: 10, period: 'total' } },
          { quota: { limit: 1, period: 'day' } },
        ],
        { quota: { limit: 99, period: 'month' } },
      ],
      [
        { limits: [{ limit: 10, perSeconds: 60 }] },
        [
          { limits: null },
          { limits: [] },
          { limits: [{ limit: 11, perSeconds: 60 }] },
          { limits: [{ limit: 1, perSeconds: 30 }] },
        ],
        {
          limits: [
            { limit: 9, perSeconds: 60 },
            { limit: 1, perSeconds: 1 },
          ],
        },
      ],
      [
        { allowedIps: ['10.0.0.0/8'] },
        [{ allowedIps: null }, { allowedIps: ['10.0.0.0/8', '192.0.2.1'] }],
        { allowedIps: ['10.1.0.0/16'] },
      ],
      [
        { expiresAt: twoHours },
        [{ expiresAt: null }, { expiresAt: later(3) }],
        { expiresAt: hour },
      ],
      [{ enabled: false, label: 'unpaid' }, [{ enabled: true }], { label: 'off' }],
    ]
    for (const [set, looser, stricter] of rows) {
      const about = JSON.stringify(set)
      const { id } = await auth.createApiKey({ userId: user.id, scopes: ['read'], ...set })
      for (const fields of looser)
        t.match(await update(id, fields), refused, `${about} to ${JSON.stringify(fields)}`)
      t.equal((await update(id, stricter)).status, 200, about)
      for (const fields of looser) t.match(await update(id, fields), refused, `${about}, tightened`)
      t.equal((await update(id, set)).status, 200, `${about}: it takes back what it did itself`)
      const rotated = await page.call('keys.rotate', { id })
      t.equal(rotated.status, 200)
      for (const fields of looser)
        t.match(await update(rotated.body.id, fields), refused, `${about}, rotated`)
    }

    const own = await page.call('keys.create', {
      userId: user.id,
      limits: [{ limit: 1, perSeconds: 1 }],
    })
    t.equal((await update(own.body.id, { limits: null, enabled: false })).status, 200)
    t.equal(
      (await update(own.body.id, { enabled: true })).status,
      200,
      'what it has set is its own',
    )
    await auth.updateApiKey({ id: own.body.id, enabled: false })
    t.match(await update(own.body.id, { enabled: true }), refused, 'an operator has disabled it')
    await auth.updateApiKey({ id: own.body.id, enabled: true })
    t.equal((await update(own.body.id, { limits: [{ limit: 5, perSeconds: 60 }] })).status, 200)
    await auth.updateApiKey({ id: own.body.id, limits: [{ limit: 5, perSeconds: 60 }] })
    t.match(await update(own.body.id, { limits: null }), refused, 'an operator has set the same')
  },
)
