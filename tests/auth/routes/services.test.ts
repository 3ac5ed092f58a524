// promise: Another service gets the decision of the guard about a key, and a proxy about a request
import t from 'tap'
import { BOOTSTRAP_KEY, startHost } from '../support/host.ts'
import { rawRequest } from '../support/raw-request.ts'

const auth = { scopes: ['billing:read'], protectedPaths: ['/api'], excludePaths: ['/api/open'] }
const forwarded = (method: string, uri: string) => ({
  'x-forwarded-method': method,
  'x-forwarded-uri': uri,
})

t.test('a service verifies a key, and the answer has the reason if it is not valid', async (t) => {
  const { app, ask, makeKey } = await startHost(t, { auth })
  const { key: service } = await makeKey({ scopes: ['auth:verify'] })
  const verify = async (body: object) =>
    (await ask('POST', '/_auth/verify', { key: service, body })).body
  const given = { tenant: 'acme', scopes: ['write'], expiresAt: '2999-01-01T00:00:00.000Z' }
  const { id: keyId, userId, key } = await makeKey(given)
  const facts = { keyId, userId, ...given, remaining: null }

  t.same(await verify({ key }), { valid: true, code: null, ...facts })
  t.match(await verify({ key, scopes: ['read'], ip: '192.0.2.1', cost: 2 }), { valid: true })
  const lacking = { valid: false, code: 'SVC_AUTH_INSUFFICIENT_SCOPE', ...facts }
  t.same(await verify({ key, scopes: ['billing:read', 'admin'] }), lacking)

  await app.svc.auth.updateApiKey({ id: keyId, allowedIps: ['192.0.2.0/24'] })
  t.match(await verify({ key, ip: '192.0.2.1' }), { valid: true, code: null })
  const elsewhere = { valid: false, code: 'SVC_AUTH_IP_NOT_ALLOWED', keyId }
  t.match(await verify({ key, ip: '198.51.100.1' }), elsewhere)
  t.match(await verify({ key }), elsewhere, 'an address that nobody names is not allowed')

  const invalid = { valid: false, code: 'SVC_AUTH_INVALID_KEY', keyId: null, scopes: [] }
  await app.svc.auth.updateApiKey({ id: keyId, enabled: false })
  for (const bad of [key, '', 'nonsense', 'x'.repeat(1000)]) {
    t.match(await verify({ key: bad }), { ...invalid, userId: null, tenant: null })
  }
  t.match(await verify({ key: BOOTSTRAP_KEY }), { valid: true, keyId: null, scopes: ['admin'] })
  t.match(await app.svc.auth.verifyApiKey({ key: 'nonsense' }), invalid)
})

t.test('what is left is that of all processes, also of a key that is refused', async (t) => {
  const one = await startHost(t, { auth, after: (app) => void app.get('/api/x', async () => 'x') })
  const two = await startHost(t, { auth, database: one.database })
  const quota = { limit: 100, period: 'month' } as const
  const limits = [{ limit: 50, perSeconds: 3600 }]
  const ofQuota = await one.makeKey({ scopes: ['read'], quota })
  const ofLimit = await one.makeKey({ scopes: ['read'], limits })
  const use = async (times: number) => {
    for (let n = 0; n < times; n++) {
      for (const { key } of [ofQuota, ofLimit]) {
        t.equal((await one.ask('GET', '/api/x', { key })).status, 200)
      }
    }
  }
  const left = async ({ app }: typeof one, scopes: string[]) => {
    const verify = ({ key }: { key: string }) => app.svc.auth.verifyApiKey({ key, scopes })
    const [first, second] = [await verify(ofQuota), await verify(ofLimit)]
    return [first.code, first.remaining, second.remaining]
  }
  const refused = 'SVC_AUTH_INSUFFICIENT_SCOPE'
  await use(30)
  // What each process holds for later requests is taken for the other: at most a tenth of what is left.
  const atMost = (
    given: unknown[],
    quota: number,
    limit: number,
    about: string,
    code: string | null = refused,
  ) => {
    t.equal(given[0], code, about)
    t.ok(
      Number(given[1]) <= quota && Number(given[1]) >= quota - quota / 5,
      `${about}: ${given[1]}`,
    )
    t.ok(Number(given[2]) <= limit && Number(given[2]) >= limit - 10, `${about}: ${given[2]}`)
  }
  atMost(await left(one, ['write']), 70, 20, 'the process that asked')
  atMost(await left(two, ['write']), 70, 20, 'a process that never asked')
  atMost(await left(two, ['read']), 69, 19, 'a request that passes', null)
  await use(10)
  atMost(await left(two, ['write']), 59, 9, 'a process that has asked before')
})

t.test('verification needs its scope, and a body that says what to verify', async (t) => {
  const { ask, makeKey } = await startHost(t)
  const { key: manager } = await makeKey({ scopes: ['auth:manage', 'read', 'write'] })
  const body = { key: manager }
  t.match(await ask('POST', '/_auth/verify', { key: manager, body }), {
    status: 403,
    body: { code: 'SVC_AUTH_INSUFFICIENT_SCOPE', error: 'insufficient permissions' },
  })
  for (const wrong of [
    {},
    { key: 1 },
    { ...body, ip: 'here' },
    { ...body, cost: -1 },
    { ...body, x: 1 },
  ]) {
    t.equal((await ask('POST', '/_auth/verify', { body: wrong })).status, 400)
  }
})

t.test('failed attempts of verifications count for the lockout', async (t) => {
  const rateLimit = { maxAttempts: 3, windowMs: 60_000, blockDurationMs: 60_000 }
  const { app, makeKey } = await startHost(t, { auth: { rateLimit } })
  const { key } = await makeKey()
  const wrong = key.slice(0, 12) + 'x'.repeat(30)
  const codes = []
  for (let i = 0; i < 4; i++) codes.push((await app.svc.auth.verifyApiKey({ key: wrong })).code)
  t.same(codes, [...Array(3).fill('SVC_AUTH_INVALID_KEY'), 'SVC_AUTH_BLOCKED'])
  t.match(await app.svc.auth.verifyApiKey({ key }), { valid: false, code: 'SVC_AUTH_BLOCKED' })
})

t.test('forward auth answers with the caller, or with the refusal of the guard', async (t) => {
  const { ask, makeKey } = await startHost(t, { auth })
  const scopes = ['read', 'billing:read']
  const { key: reader, userId } = await makeKey({ tenant: 'acme', scopes })
  const decide = (method: string, uri: string, key: string | null = reader) =>
    ask('GET', '/_auth/forward-auth', { key, headers: forwarded(method, uri) })

  const passed = await decide('GET', '/api/orders?limit=1')
  t.match(passed, { status: 204, body: undefined })
  t.match(passed.headers, {
    'x-svc-user': userId,
    'x-svc-tenant': 'acme',
    'x-svc-scopes': 'read billing:read',
  })
  const insufficient = { status: 403, body: { code: 'SVC_AUTH_INSUFFICIENT_SCOPE' } }
  t.match(await decide('POST', '/api/orders'), insufficient)
  t.match(await decide('GET', '/_auth/users'), insufficient)
  t.match(await decide('GET', '/_webhooks'), insufficient)
  t.match(await decide('GET', '/api/orders', null), {
    status: 401,
    body: { code: 'SVC_AUTH_MISSING_KEY' },
    headers: { 'www-authenticate': 'Bearer' },
  })
  t.match(await decide('GET', '/api/orders', 'nonsense'), { status: 401 })
  for (const uri of ['/elsewhere', '/api/open', '/']) {
    const open = await decide('DELETE', uri, null)
    t.match(open, { status: 204, headers: { 'x-svc-user': '', 'x-svc-scopes': '' } }, uri)
  }
  for (const uri of [
    '/API/x',
    '/x/../api',
    '/%61pi/x',
    '//api',
    '/a%2fpi',
    'http://h/api/x',
    '*',
  ]) {
    t.equal((await decide('GET', uri, null)).status, 401, uri)
  }
})

t.test('a forwarded URI is read as it is written, whatever the router of the host', async (t) => {
  const excludePaths = ['/health', '/Public/*']
  const every = {
    useSemicolonDelimiter: true,
    caseSensitive: false,
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
  }
  for (const routerOptions of [{}, every]) {
    const { ask } = await startHost(t, { auth: { excludePaths }, fastify: { routerOptions } })
    const decide = async (uri: string) =>
      (await ask('GET', '/_auth/forward-auth', { key: null, headers: forwarded('GET', uri) }))
        .status
    for (const uri of ['/health', '/health?a=1;b=2', '/Public/a', 'https://h:1/health']) {
      t.equal(await decide(uri), 204, uri)
    }
    for (const uri of [
      '/health;/../admin',
      '/health;admin',
      '/Public/a;/../../admin',
      'http://a\\admin/health',
      'http://a\\..\\admin/Public/a',
      'http://h\\@x/health',
      'http://a;/health',
      '/health?/\\..\\admin',
      '/HEALTH',
      '/health/',
      '//health',
      '/public/a',
    ]) {
      t.equal(await decide(uri), 401, uri)
    }
  }
})

t.test('a forwarded method or URI that is missing or comes twice is a 403', async (t) => {
  const { app, ask } = await startHost(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const refused = { status: 403, body: { code: 'SVC_AUTH_INVALID_FORWARDED_REQUEST' } }
  const path = '/_auth/forward-auth'
  t.match(await ask('GET', path), refused)
  t.match(await ask('GET', path, { headers: { 'x-forwarded-method': 'GET' } }), refused)
  t.match(await ask('GET', path, { headers: { 'x-forwarded-uri': '/x' } }), refused)
  t.match(await ask('GET', path, { headers: forwarded('GET, POST', '/x') }), refused)
  t.match(await ask('GET', path, { headers: forwarded('', '/x') }), refused)
  t.match(await ask('GET', path, { headers: forwarded('GET', '') }), refused)
  t.match(await ask('GET', path, { headers: forwarded('GET', '/health#/../x') }), refused)
  const once: [string, string][] = [
    ['X-API-Key', BOOTSTRAP_KEY],
    ['X-Forwarded-Method', 'GET'],
    ['X-Forwarded-Uri', '/x'],
  ]
  t.equal((await rawRequest(app, { method: 'GET', target: path, headers: once })).status, 204)
  for (const doubled of [once[1], once[2]]) {
    const headers = [...once, doubled as [string, string]]
    t.equal((await rawRequest(app, { method: 'GET', target: path, headers })).status, 403)
  }
})

t.test('forward auth by scopes lets keys with any one of them pass, on any path', async (t) => {
  const { ask, makeKey } = await startHost(t, { auth })
  const decide = (scopes: string, key: string | null, method = 'POST', uri = '/api/open') =>
    ask('GET', `/_auth/forward-auth/${scopes}`, { key, headers: forwarded(method, uri) })
  const { key: biller } = await makeKey({ scopes: ['billing:read'] })
  const { key: reader } = await makeKey({ scopes: ['read'] })
  const { key: writer } = await makeKey({ scopes: ['write'] })

  for (const uri of ['/api/open', '/elsewhere', '/_auth/users']) {
    const passed = await decide('billing:read', biller, 'POST', uri)
    t.match(passed, { status: 204, headers: { 'x-svc-scopes': 'billing:read' } }, uri)
  }
  t.equal((await decide('billing:read,audit:read', biller)).status, 204)
  t.equal((await decide('billing:read', BOOTSTRAP_KEY)).status, 204)
  t.equal((await decide('read', writer)).status, 204)
  const insufficient = { status: 403, body: { code: 'SVC_AUTH_INSUFFICIENT_SCOPE' } }
  t.match(await decide('billing:read', writer, 'GET'), insufficient)
  t.match(await decide('admin', biller), insufficient)
  t.match(await decide('write', reader, 'GET'), insufficient)
  t.equal((await decide('billing:read', null)).status, 401)
  t.equal((await ask('GET', '/_auth/forward-auth/billing:read')).status, 403, 'no request named')
  t.match(await decide('billing:read', reader, 'GET', '/x?scopes=read'), insufficient)

  for (const unknown of ['billing:write', '', 'billing:read,', 'billing:*', 'Read', 'read write']) {
    const answer = await decide(encodeURIComponent(unknown), BOOTSTRAP_KEY)
    t.match(answer, { status: 403, body: { code: 'SVC_AUTH_UNKNOWN_FORWARDED_SCOPE' } }, unknown)
  }
  t.match((await decide('billing:write', BOOTSTRAP_KEY)).body.message, /"billing:write".*"scopes"/)
  t.equal(
    (await decide('x'.repeat(200), BOOTSTRAP_KEY)).status,
    404,
    'longer than the router reads',
  )
})

t.test('a refusal of forward auth has its body in a header of ASCII too', async (t) => {
  const { ask } = await startHost(t, {
    core: { errorBody: ({ code }) => ({ code, text: 'é\n"𝄞"' }) },
  })
  for (const headers of [forwarded('GET', '/x'), {}]) {
    const answer = await ask('GET', '/_auth/forward-auth', { key: null, headers })
    const header = String(answer.headers['x-svc-refusal'])
    t.match(header, /^[\x20-\x7e]+$/)
    t.same(JSON.parse(header), answer.body)
  }
})

t.test('forward auth applies the lockout and the networks of keys', async (t) => {
  const rateLimit = { maxAttempts: 1, windowMs: 60_000, blockDurationMs: 60_000 }
  const { app, ask, makeKey } = await startHost(t, { auth: { rateLimit } })
  const { key, id } = await makeKey()
  const decide = (text: string) =>
    ask('GET', '/_auth/forward-auth', { key: text, headers: forwarded('GET', '/x') })
  await app.svc.auth.updateApiKey({ id, allowedIps: ['192.0.2.0/24'] })
  t.match(await decide(key), { status: 403, body: { code: 'SVC_AUTH_IP_NOT_ALLOWED' } })
  const wrong = `${key.slice(0, 8)}${'x'.repeat(34)}`
  t.equal((await decide(wrong)).status, 401)
  t.match(await decide(key), { status: 429, headers: { 'retry-after': /^\d+$/ } })
})
