// promise: A session ends with its key, and a portal link works once over all processes
/** Signing in with a key: the session that it is exchanged for. */
import { advance } from '@svc/testing'
import t from 'tap'
import { CALLS } from '../../packages/console/src/calls/calls.ts'
import type { CallName } from '../../packages/console/src/contract.ts'
import { BOOTSTRAP_KEY, FROM_PAGE, startHost } from './support/host.ts'

const signInWith = (key: string, headers: Record<string, string> = FROM_PAGE) => ({
  headers,
  body: JSON.stringify({ key }),
})

t.test('a key is exchanged for a session, which says what it may do', async (t) => {
  const { app, ask, visitor, signIn, keyOf } = await startHost(t)
  t.match((await visitor().session()).body, { signedIn: false, signIn: 'key' })

  const answer = await ask('POST', '/console/api/session', signInWith(BOOTSTRAP_KEY))
  t.match(answer, { status: 200, body: { signedIn: true, operator: true, tenant: null } })
  const cookie = String(answer.headers['set-cookie'])
  t.match(
    cookie,
    /^svc-console=[\w-]{43}; Path=\/console; Max-Age=28800; HttpOnly; SameSite=Strict$/,
  )
  t.equal(answer.headers['cache-control'], 'no-store')

  const { key, id } = await keyOf(['webhooks:manage'])
  const session = await (await signIn(key)).session()
  t.match(session.body, {
    signedIn: true,
    via: 'key',
    keyId: id,
    features: { auth: true, webhooks: true },
  })
  t.ok(session.body.can.includes('webhooks:write'))
  t.notOk(session.body.can.includes('keys:read'))
  const inMs = Date.parse(session.body.expiresAt) - Date.now()
  t.ok(inMs > 7.9 * 3_600_000 && inMs <= 8 * 3_600_000, String(inMs))

  const { rows } = await app.svc.database.query('select * from svc."__svc.console.sessions"')
  t.equal(rows.length, 2)
  const token = cookie.slice('svc-console='.length, cookie.indexOf(';'))
  t.notOk(JSON.stringify(rows).includes(token), 'only its hash is stored')
})

t.test('over TLS the cookie is secure', async (t) => {
  const { ask } = await startHost(t, { fastify: { trustProxy: true } })
  const headers = {
    ...FROM_PAGE,
    'x-forwarded-proto': 'https',
    origin: 'https://console.example',
  }
  const answer = await ask('POST', '/console/api/session', signInWith(BOOTSTRAP_KEY, headers))
  t.match(
    String(answer.headers['set-cookie']),
    /^__Secure-svc-console=[\w-]{43}; .*; HttpOnly; Secure; SameSite=Strict$/,
  )
  const plain = await ask('POST', '/console/api/session', {
    ...signInWith(BOOTSTRAP_KEY, { ...headers, origin: 'http://console.example' }),
  })
  t.equal(plain.status, 403, 'a page that came without TLS is another origin')
})

t.test('a key that cannot sign in to the console is refused with the reason', async (t) => {
  const { app, ask, keyOf } = await startHost(t)
  const attempt = (key: string) => ask('POST', '/console/api/session', signInWith(key))
  t.match(await attempt('svc_nonsense'), { status: 401, body: { code: 'SVC_AUTH_INVALID_KEY' } })
  const reader = await keyOf(['read', 'write'])
  t.match(await attempt(reader.key), {
    status: 403,
    body: { code: 'SVC_AUTH_INSUFFICIENT_SCOPE' },
  })
  const revoked = await keyOf(['admin'])
  await app.svc.auth.revokeApiKey(revoked.id)
  t.equal((await attempt(revoked.key)).status, 401)
  const bound = await keyOf(['admin'])
  await app.svc.auth.updateApiKey({ id: bound.id, allowedIps: ['192.0.2.0/24'] })
  t.match(await attempt(bound.key), { status: 403, body: { code: 'SVC_AUTH_IP_NOT_ALLOWED' } })
  t.match(await ask('POST', '/console/api/session', { headers: FROM_PAGE, body: '{}' }), {
    status: 400,
  })
})

t.test('failed attempts count as those at the guard do', async (t) => {
  const { ask, keyOf } = await startHost(t, {
    auth: { rateLimit: { maxAttempts: 3, windowMs: 60_000, blockDurationMs: 60_000 } },
  })
  const { key } = await keyOf(['admin'])
  const wrong = `${key.slice(0, 8)}${'x'.repeat(30)}`
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) {
    statuses.push((await ask('POST', '/console/api/session', signInWith(wrong))).status)
  }
  t.equal(statuses.at(-1), 429, statuses.join())
  t.equal((await ask('POST', '/console/api/session', signInWith(key))).status, 429)
})

t.test('a text that no key can be is refused at the sign-in, also with a lockout', async (t) => {
  const { ask } = await startHost(t, {
    auth: { rateLimit: { maxAttempts: 1, windowMs: 60_000, blockDurationMs: 60_000 } },
  })
  for (const text of ['\0', 'svc_\0', '\0', '\ud800']) {
    const answer = await ask('POST', '/console/api/session', signInWith(text))
    t.match(answer, { status: 401 }, JSON.stringify(text))
  }
})

t.test('a session of the bootstrap key ends when the secret changes', async (t) => {
  let secret = BOOTSTRAP_KEY
  const { app, signIn } = await startHost(t, {
    core: { secrets: (name) => (name === 'BOOTSTRAP_KEY' ? secret : null) },
  })
  const sessions = [await signIn(), await signIn()]
  secret = 'another-bootstrap-key'
  await advance(app, 5)
  t.equal((await app.svc.auth.validateApiKey(BOOTSTRAP_KEY)).valid, false)
  for (const page of sessions) t.equal((await page.call('webhooks.list')).status, 401)
  const page = await signIn(secret)
  t.equal((await page.call('webhooks.list')).status, 200)
  const { rows } = await app.svc.database.query('select 1 from svc."__svc.console.sessions"')
  t.equal(rows.length, 1, 'the others are gone, and do not come back with the old secret')
})

t.test('a session may do what its key may now', async (t) => {
  const { app, signIn, keyOf } = await startHost(t)
  const { id, key } = await keyOf(['admin'])
  const page = await signIn(key)
  t.equal((await page.call('users.list')).status, 200)
  await app.svc.auth.updateApiKey({ id, scopes: ['webhooks:manage'] })
  t.match(await page.call('users.list'), { status: 403, body: { code: 'SVC_CONSOLE_FORBIDDEN' } })
  await app.svc.auth.updateApiKey({ id, allowedIps: ['192.0.2.0/24'] })
  t.equal((await page.call('webhooks.list')).status, 401)
})

t.test('an id that no session can have is not found, and one in upper case is', async (t) => {
  const { signIn } = await startHost(t)
  const [one, other] = [await signIn(), await signIn()]
  const { items } = (await other.call('sessions.list')).body as {
    items: { id: string; current: boolean }[]
  }
  const id = items.find(({ current }) => !current)?.id ?? ''
  for (const no of ['', 'acme', '\0', '2030-01-01T00:00:00Z', `urn:uuid:${id}`]) {
    const answer = await other.call('sessions.end', { id: no })
    t.match(answer, { status: 404, body: { code: 'SVC_CONSOLE_SESSION_NOT_FOUND' } }, no)
    t.equal((await other.call('sessions.list', { after: no })).status, 400, no)
  }
  t.equal((await other.call('sessions.end', { id: id.toUpperCase() })).status, 200)
  t.match((await one.session()).body, { signedIn: false })
})

t.test('no operation fails by an id of another form', async (t) => {
  const { signIn } = await startHost(t)
  const page = await signIn()
  for (const name of Object.keys(CALLS) as CallName[]) {
    for (const id of [
      '',
      'acme',
      '\0',
      '\ud800',
      'urn:uuid:0190a1b2-0000-7000-8000-000000000000',
    ]) {
      const { status } = await page.call(name, { id })
      t.ok(status < 500, `${name} ${JSON.stringify(id)}: ${status}`)
    }
  }
})

t.test('a session ends at sign-out, when it is revoked, and when it expires', async (t) => {
  const { app, signIn } = await startHost(t)
  const one = await signIn()
  const other = await signIn()
  const old = await signIn()
  const ended = await one.end()
  t.match(ended, { status: 200, body: { signedIn: false } })
  t.match(String(ended.headers['set-cookie']), /^svc-console=; .*Max-Age=0/)
  t.match((await one.session()).body, { signedIn: false })

  const listed = (await other.call('sessions.list')).body.items as Record<string, unknown>[]
  t.equal(listed.length, 2)
  t.notOk('tokenHash' in listed[0]!)
  const foreign = listed.find(({ current }) => !current)!
  t.match(await other.call('sessions.end', { id: foreign['id'] }), { status: 200, text: '{}' })
  t.match((await old.session()).body, { signedIn: false })
  t.equal((await other.call('sessions.end', { id: foreign['id'] })).status, 404)

  await advance(app, 7 * 3600)
  t.match((await other.session()).body, { signedIn: true })
  await advance(app, 3601)
  t.match((await other.session()).body, { signedIn: false })
  const actions = (await app.svc.audit.list()).map(({ action, actor }) => [action, actor.kind])
  t.same(actions, [
    ['session.end', 'console'],
    ['session.end', 'console'],
    ['session.create', 'console'],
    ['session.create', 'console'],
    ['session.create', 'console'],
  ])
})

t.test('a cookie that was never issued, or comes twice, is no session', async (t) => {
  const { visitor, signIn } = await startHost(t)
  const { cookie } = await signIn()
  t.match((await visitor(cookie).session()).body, { signedIn: true })
  for (const wrong of [
    'svc-console=',
    'svc-console=%00',
    `svc-console=${'x'.repeat(43)}`,
    `${cookie}x`,
    `${cookie}; svc-console=${'x'.repeat(43)}`,
    cookie.replace('svc-console', '__Secure-svc-console'),
  ]) {
    t.match((await visitor(wrong).session()).body, { signedIn: false }, wrong)
  }
})
