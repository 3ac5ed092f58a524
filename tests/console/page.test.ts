/** The page: how it is served, beside a guard and beside @fastify/helmet. */
import helmet from '@fastify/helmet'
import t from 'tap'
import { svcAuth } from '@svc/auth'
import { svcConsole } from '@svc/console'
import { svcCore } from '@svc/core'
import { svcWebhooks } from '@svc/webhooks'
import { readPage } from '../../packages/console/src/page/page-files.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { FROM_PAGE, startHost } from './support/host.ts'
import { newHost } from '../support/new-host.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

t.test('the page is served at its path and at every path below it', async (t) => {
  const { ask } = await startHost(t)
  const page = await ask('GET', '/console')
  t.match(page, {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': POLICY,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
  t.match(page.text, '<meta name="svc-console-base" content="/console"')
  t.notMatch(page.text, /\.\/assets|%BASE%|%NAME%|style=|<script>|https?:/)
  for (const path of ['/console/', '/console/webhooks/1', '/console/events?name=order.created']) {
    t.equal((await ask('GET', path)).text, page.text, path)
  }
  const [script] = /\/console\/assets\/[^"]+\.js/.exec(page.text) ?? []
  const asset = await ask('GET', script!, { headers: { 'accept-encoding': 'gzip, br' } })
  t.match(asset.headers, {
    'content-type': 'text/javascript; charset=utf-8',
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': POLICY,
  })
  const again = await ask('GET', script!, {
    headers: { 'if-none-match': String(asset.headers['etag']) },
  })
  t.equal(again.status, 304)
  for (const path of ['/console/assets/none.js', '/console/assets/..%2findex.html']) {
    t.equal((await ask('GET', path)).status, 404, path)
  }
  t.match(await ask('GET', '/console/api/none'), {
    status: 404,
    body: { code: 'SVC_CONSOLE_UNKNOWN_OPERATION' },
  })
  for (const name of ['constructor', '__proto__', 'toString', 'x/y']) {
    const headers = { 'content-type': 'application/json' }
    const answer = await ask('POST', `/console/api/${name}`, { headers, body: '{}' })
    t.match(answer, { status: 404, body: { code: 'SVC_CONSOLE_UNKNOWN_OPERATION' } }, name)
  }
})

t.test('a long answer of its API is compressed', async (t) => {
  const { app, signIn } = await startHost(t)
  const description = 'long '.repeat(199)
  for (const label of ['one', 'two']) {
    await app.svc.webhooks.register({ url: 'https://a.example', events: ['*'], label, description })
  }
  const { cookie } = await signIn()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const answerTo = async (operation: string, encoding: string) => {
    const headers = { ...FROM_PAGE, origin: url, cookie, 'accept-encoding': encoding }
    const path = `${url}/console/api/${operation}`
    const answer = await fetch(path, { method: 'POST', headers, body: '{}' })
    return { encoding: answer.headers.get('content-encoding'), body: await answer.json() }
  }
  const plain = await answerTo('webhooks.list', 'identity')
  t.match(plain, { encoding: null, body: { items: [{ description }, { description }] } })
  t.same(await answerTo('webhooks.list', 'gzip, br'), { ...plain, encoding: 'gzip' })
  t.same(await answerTo('webhooks.list', 'gzip;q=0, identity'), plain)
  t.match(await answerTo('webhooks.count', 'gzip'), { encoding: null, body: { count: 2 } })
})

t.test('svcAuth does not guard the console, whatever is sent', async (t) => {
  const { ask, signIn } = await startHost(t, { auth: { protectedPaths: 'all' } })
  t.equal((await ask('GET', '/elsewhere')).status, 401)
  const headers = { authorization: 'Bearer of-another-login' }
  t.equal((await ask('GET', '/console', { headers })).status, 200)
  t.equal((await ask('GET', '/console/api/session', { headers })).status, 200)
  const page = await signIn()
  t.equal((await page.call('webhooks.list', {}, headers)).status, 200)
  t.equal((await ask('GET', '/_webhooks', { headers: { cookie: page.cookie } })).status, 401)
})

t.test('the page has its own policy, beside @fastify/helmet and in errors', async (t) => {
  const { ask } = await startHost(t, {
    before: (app) =>
      app.register(helmet, {
        contentSecurityPolicy: { directives: { scriptSrc: ["'self'", "'unsafe-inline'"] } },
        xFrameOptions: { action: 'sameorigin' },
      }),
    auth: null,
    console: { access: () => null },
    core: { errorBody: () => ({ shaped: true }) },
  })
  for (const path of ['/console', '/console/api/session', '/console/api/none']) {
    const { headers } = await ask('GET', path)
    t.equal(headers['content-security-policy'], POLICY, path)
    t.equal(headers['x-frame-options'], 'DENY', path)
  }
  t.match((await ask('GET', '/console/api/none')).body, { code: 'SVC_CONSOLE_UNKNOWN_OPERATION' })
})

t.test('the console is served at the path of the host’s choice, and nowhere else', async (t) => {
  for (const path of ['/v1.0/.console/...', '/_admin~1']) {
    const { ask, signIn, app, follow } = await startHost(t, { console: { path } })
    t.match(await ask('GET', path), { status: 200, text: `content="${path}"` }, path)
    t.equal((await ask('GET', '/console')).status, 401, 'it is a path like any other')
    const page = await signIn()
    t.match((await page.session()).body, { signedIn: true, via: 'key' })
    t.match(page.cookie, /^svc-console/)
    const link = await app.svc.console.portalLink({ tenant: 'acme' })
    t.ok(link.startsWith(`${path}/portal/`))
    t.match((await (await follow(link)).session()).body, { via: 'portal', tenant: 'acme' })
  }
})

t.test('the console works below the prefix of a plugin', async (t) => {
  const connectionString = await freshDatabase(t)
  const app = newHost(t)
  await app.register(svcCore, { database: { connectionString, max: 4 } })
  await app.register(
    async (child) => {
      await child.register(svcConsole, { path: '/desk', access: () => null })
    },
    { prefix: '/internal' },
  )
  await app.ready()
  const { body, statusCode } = await app.inject('/internal/desk')
  t.equal(statusCode, 200)
  t.match(body, 'content="/internal/desk"')
  t.match(body, '"/internal/desk/assets/')
  t.match((await app.inject('/internal/desk/api/session')).json(), {
    signedIn: false,
    signIn: 'host',
  })
  t.match(await app.svc.console.portalLink({ tenant: 'acme' }), /^\/internal\/desk\/portal\//)
})

t.test('a console at the path of a management API is an error at boot', async (t) => {
  const database = await freshDatabase(t)
  const boot = async (path: string, { isFirst = false } = {}) => {
    const app = newHost(t)
    await app.register(svcCore, { database: { connectionString: database, max: 4 } })
    if (isFirst) await app.register(svcConsole, { path })
    await app.register(svcAuth)
    await app.register(svcWebhooks, { allowedEvents: [] })
    if (!isFirst) await app.register(svcConsole, { path })
    await app.ready()
  }
  const said = (of: string) => ({
    code: 'SVC_CORE_INVALID_OPTION',
    message: new RegExp(`${of}.*give the option "path" another one`),
  })
  await t.rejects(boot('/_auth'), said('/_auth/keys'))
  await t.rejects(boot('/_auth', { isFirst: true }), said('/_auth/keys'))
  await t.rejects(boot('/_webhooks'), said('/_webhooks/feed'))
  await t.resolves(boot('/_auth/console'))
})

t.test('if the page was not built, the error names the command', (t) => {
  t.throws(() => readPage({ base: '/console', name: 'Console', logo: null }, '/nowhere'), {
    code: 'SVC_CONSOLE_PAGE_MISSING',
    message: /pnpm --filter @svc\/console prepack/,
  })
  t.end()
})

t.test('wrong options, and a console without a way to sign in, are errors at boot', async (t) => {
  const database = await freshDatabase(t)
  const boot = async (options: object) => {
    const app = newHost(t)
    await app.register(svcCore, { database: { connectionString: database, max: 4 } })
    await app.register(svcConsole, options)
    await app.ready()
  }
  await t.rejects(boot({}), { code: 'SVC_CORE_INVALID_OPTION', message: /nobody could sign in/ })
  for (const [option, values] of Object.entries({
    path: [
      'console',
      '/console/',
      '/',
      '/a b',
      '/a"b',
      '//a',
      '/..',
      '/../a',
      '/a/./b',
      '/a/..',
      7,
    ],
    frameAncestors: [
      ['*'],
      ['https://*.example'],
      ['https://a.example/'],
      ["'self'"],
      ['a.example'],
    ],
    origin: ['https://a.example/x', 'a.example'],
    returnUrl: ['javascript:alert(1)', '//a.example', '/\\a.example', 'settings', 'ftp://a', '', 1],
    scopes: [['admin'], ['webhooks:manage'], 'read'],
    theme: [{ accent: 'red; }' }, { logo: 'https://a.example/x.png' }, { name: '' }, { x: 1 }],
    redact: ['yes'],
    access: [{}],
    sessionSeconds: [0, 1.5, 2_592_001, '60'],
    unknown: [1],
  })) {
    for (const value of values) {
      const options = { access: () => null, [option]: value }
      await t.rejects(
        boot(options),
        { code: 'SVC_CORE_INVALID_OPTION' },
        `${option}: ${JSON.stringify(value)}`,
      )
    }
  }
})

t.test('before its script has run, the page shows the name and the logo of the host', async (t) => {
  const theme = { name: 'A$& "<b>" & Co', logo: '/logo.svg?a=1&b=2' }
  const { ask } = await startHost(t, { console: { theme } })
  const { text } = await ask('GET', '/console')
  t.match(text, '<span>A$&#38; &#34;&#60;b&#62;&#34; &#38; Co</span>')
  t.match(text, '<img src="/logo.svg?a=1&#38;b=2" alt="">')
  t.match(text, '<title>A$&#38; ')
  t.notMatch(text, 'brand-mark')
})
