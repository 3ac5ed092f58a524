import { readFileSync } from 'node:fs'
import t from 'tap'
import { freshDatabase } from '../../../support/fresh-database.ts'
import { prepareHost, startHost } from '../../support/host.ts'
import { rawRequest } from '../../support/raw-request.ts'

t.test(
  'a wildcard exclusion opens the paths below its own, where they can be read in one way',
  async (t) => {
    const { app } = await startHost(t, {
      auth: { excludePaths: ['/public/*', '/a::b'] },
      fastify: { routerOptions: { maxParamLength: 500 } },
      after(app) {
        app.get('/a::b', async () => 'open')
        app.get('/public/page', async () => 'open')
        app.get('/public/files/*', async () => 'open')
        app.get('/public', async () => 'closed')
        app.get('/public/', async () => 'closed')
        app.get('/public/admin', { config: { scopes: ['admin'] } }, async () => 'closed')
        app.all('/:any/*', async () => 'any')
      },
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const statusOf = async (target: string, method = 'GET') =>
      (await rawRequest(app, { method, target })).status
    const open = [
      '/a:b',
      '/public/page',
      '/public/page?x=/_auth',
      '/%70ublic/p%61ge',
      '/public/files/',
      '/public/files/a',
      '/public/files/a/b.png',
      '/public/other/x',
      'http://evil/public/page',
    ]
    for (const target of open) t.equal(await statusOf(target), 200, target)
    t.equal(await statusOf('/public/other/x', 'DELETE'), 200, 'for every method')
    const closed = [
      '/public',
      '/public/',
      '/public//page',
      '/public/files//',
      '/public/files/../../secret',
      '/public/files/..%2f..%2fsecret',
      '/public/files/%2e%2e/x',
      '/public/files/a%2Fb',
      '/public/files/a%252fb',
      '/public/files/a%5cb',
      '/public/files/a;b',
      '/public/../_auth/users',
      '/public/%2e%2e/_auth/users',
      '/public/..;/_auth/users',
      '/public/admin',
      '/PUBLIC/page',
      '/publicx/page',
      '/x/public/page',
      '/_auth/users',
      '/_AUTH/users',
      '//public/page',
    ]
    for (const target of closed) t.equal(await statusOf(target), 401, target)
  },
)

interface Attacks {
  cases: {
    id: string
    method: string
    rawTarget: string
    headers?: unknown[]
    routerOptions: string
  }[]
}

t.test('no spelling of a management path becomes one below an exclusion', async (t) => {
  const file = new URL('../../../data/guard-attacks.json', import.meta.url)
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as Attacks
  const ran: string[] = []
  const { app } = await startHost(t, {
    auth: { excludePaths: ['/public/*'] },
    after(app) {
      app.get('/_webhooks/own', async () => ran.push('/_webhooks/own'))
      app.get('/public/page', async () => 'open')
      app.addHook('onSend', async ({ routeOptions: { url = '' } }, reply) => {
        if (url.startsWith('/_auth') && reply.statusCode < 300) ran.push(url)
      })
    },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const targets = cases
    .filter(({ headers, rawTarget }) => !headers && rawTarget.startsWith('/'))
    .map(({ rawTarget }) => rawTarget)
  t.ok(targets.length > 50)
  const spellings = ['/public', '/public/..', '/public/%2e%2e', '/public/x/..%2f..']
  for (const target of new Set([...targets, '/_webhooks/own', '/_auth/keys'])) {
    for (const before of ['', ...spellings]) {
      await rawRequest(app, { method: 'GET', target: `${before}${target}` })
    }
  }
  t.same(ran, [])
})

t.test('a wildcard that reaches into management paths keeps the host from booting', async (t) => {
  const database = await freshDatabase(t)
  const refused: [options: object, path: RegExp][] = [
    [{ excludePaths: ['/*'] }, /"\/\*".*"\/_auth"/],
    [{ excludePaths: ['/_auth/*'] }, /"\/_auth\/\*".*"\/_auth"/],
    [{ excludePaths: ['/_AUTH/*'] }, /"\/_auth"/],
    [{ excludePaths: ['/_auth/users/*'] }, /"\/_auth"/],
    [{ excludePaths: ['/_webhooks/in/*'] }, /"\/_webhooks"/],
    [{ excludePaths: ['/api/*'], managementBasePath: '/api/keys' }, /"\/api\/keys"/],
    [{ excludePaths: ['/api/*'], webhooksManagementPaths: ['/API/hooks/'] }, /"\/API\/hooks\/"/],
  ]
  for (const [auth, message] of refused) {
    await t.rejects(prepareHost(t, { database, auth }), {
      code: 'SVC_AUTH_EXCLUSION_OPENS_MANAGEMENT',
      message,
    })
  }
  const none = { managementBasePath: null, webhooksManagementPaths: [] }
  await t.resolves(prepareHost(t, { database, auth: { excludePaths: ['/*'], ...none } }))
})

t.test('an invalid exclusion pattern is an error at boot', async (t) => {
  const database = await freshDatabase(t)
  for (const path of [
    '/a*',
    '/a/*/b',
    '/a/**',
    '*',
    '/:id',
    '/a:b',
    '/a%2Fb',
    '/a//b',
    '/a/../b',
    'a/*',
  ]) {
    await t.rejects(prepareHost(t, { database, auth: { excludePaths: ['/ok', path] } }), {
      code: 'SVC_CORE_INVALID_OPTION',
      message: `svcAuth: the option "excludePaths" must be a list of whole paths such as "/health", or with "/*" at the end all paths below one, such as "/public/*", decoded, without parameters or any other wildcard, but its element [1] is ${JSON.stringify(path)}`,
    })
  }
})
