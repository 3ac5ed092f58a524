// promise: No hook runs before the guard that the host has not named; in NestJS the guard is before middleware, guards and interceptors
import Fastify, { type FastifyInstance } from 'fastify'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import requestContext from '@fastify/request-context'
import websocket from '@fastify/websocket'
import { svcAuth, type SvcAuthOptions } from '@svc/auth'
import t, { type Test as Tap } from 'tap'
import { freshDatabase } from '../support/fresh-database.ts'
import { prepareHost, startHost, withMe, type HostOptions } from './support/host.ts'

type Hook = (...args: unknown[]) => unknown

/** What a host says at boot, `undefined` where it boots. */
async function bootOf(
  t: Tap,
  options: HostOptions,
): Promise<{ code?: string; message: string } | undefined> {
  const database = await freshDatabase(t)
  try {
    const app = await prepareHost(t, { ...options, database })
    await app.ready()
    return undefined
  } catch (error) {
    return error as Error
  }
}

const hook = (name: string) => ({ [name]: async () => {} })[name] as () => Promise<void>

t.test('a hook before the guard keeps the host from booting', async (t) => {
  const before = (app: FastifyInstance) => {
    app.addHook('onRequest', hook('answersOptions'))
    app.get('/early', async () => 'early')
  }
  t.match(await bootOf(t, { before }), {
    code: 'SVC_AUTH_HOOK_BEFORE_GUARD',
    message: /on the route GET \/early the onRequest hook "answersOptions" .*hooksBeforeGuard/,
  })
  const auth = { hooksBeforeGuard: ['answersOptions'] }
  t.equal(await bootOf(t, { before, auth }), undefined, 'unless it is listed')
  t.match(await bootOf(t, { before: (app) => void app.addHook('onRequest', async () => {}) }), {
    code: 'SVC_AUTH_HOOK_BEFORE_GUARD',
    message: /the onRequest hook without a name .*hooksBeforeGuard: \[theFunction\]$/,
  })
})

t.test(
  'a function that is listed may run before the guard, and no other of its name',
  async (t) => {
    const [listed, other] = [hook('same'), hook('same')]
    const withHooks =
      (...hooks: Hook[]) =>
      (app: FastifyInstance) =>
        hooks.forEach((early) => app.addHook('onRequest', early as () => Promise<void>))
    const auth = { hooksBeforeGuard: [listed] }

    t.equal(await bootOf(t, { before: withHooks(listed), auth }), undefined)
    t.match(await bootOf(t, { before: withHooks(listed, other), auth }), {
      code: 'SVC_AUTH_HOOK_BEFORE_GUARD',
      message: /"same" .* number 2 of the 2 hooks before the guard \("same", "same"\)/,
    })
    const nameless = Object.defineProperty(async () => {}, 'name', { value: '' })
    t.equal(
      await bootOf(t, {
        before: withHooks(nameless, listed),
        auth: { hooksBeforeGuard: ['same', nameless] },
      }),
      undefined,
      'beside names',
    )
  },
)

t.test('the error says whose the hook is, in which order, and the line to write', async (t) => {
  const boot = await bootOf(t, {
    async before(app) {
      await app.register(cors)
      await app.register(websocket)
      app.addHook('onRequest', hook('mine'))
      app.addHook('onRequest', hook('theirs'))
    },
    auth: { hooksBeforeGuard: ['mine'] },
  })
  const message = boot?.message ?? ''
  t.match(message, /the onRequest hook without a name of the package @fastify\/websocket \(/)
  t.match(message, /websocket\/index\.js:\d+\) runs before the guard\./)
  t.match(message, /number 2 of the 4 hooks .* \("handleCors", without a name, "mine", "theirs"\)/)
  t.match(message, /, after the plugins @fastify\/cors, @fastify\/websocket\./)
  t.match(message, /hooksBeforeGuard: \['mine', theFunction, 'theirs'\]$/)

  const ofHost = await bootOf(t, { before: (app) => void app.addHook('onRequest', hook('x')) })
  t.match(ofHost?.message, /"x" \(.*boot\.test\.ts:\d+\) runs before the guard/)
})

t.test('hooks of all other kinds run after the guard, wherever they were added', async (t) => {
  const ran: string[] = []
  const { ask } = await startHost(t, {
    before(app) {
      app.addHook('onRoute', (route) => {
        const { handler } = route
        route.handler = function wrapped(...args) {
          ran.push('wrapped handler')
          return handler.apply(this, args)
        }
        route.onRequest = async () => void ran.push('onRequest of the route')
      })
      app.addHook('preParsing', async () => void ran.push('preParsing'))
      app.addHook('preValidation', async () => void ran.push('preValidation'))
      app.addHook('preHandler', async () => void ran.push('preHandler'))
      app.post('/early', async () => 'early')
    },
  })
  t.equal((await ask('POST', '/early', { key: null, body: {} })).status, 401)
  t.same(ran, [])
  t.equal((await ask('POST', '/early', { body: {} })).status, 200)
  t.same(ran, [
    'onRequest of the route',
    'preParsing',
    'preValidation',
    'preHandler',
    'wrapped handler',
  ])
})

t.test(
  'a hook in a context that was loaded before keeps the host from booting, also beside a lone 404 handler',
  async (t) => {
    const before = async (app: FastifyInstance) => {
      await app.register(
        async (child) => {
          child.addHook('onRequest', hook('early'))
          child.setNotFoundHandler(async () => 'nothing')
        },
        { prefix: '/child' },
      )
    }
    t.match(await bootOf(t, { before }), {
      code: 'SVC_AUTH_HOOK_BEFORE_GUARD',
      message: /404s below "\/child" .*"early"/,
    })
  },
)

t.test('hooks after the guard and hooks of routes do not keep the host from booting', async (t) => {
  const boot = await bootOf(t, {
    before: (app) => void app.get('/early', { onRequest: hook('ofRoute') }, async () => 'early'),
    after(app) {
      app.addHook('onRequest', hook('late'))
      app.register(async (child) => {
        child.addHook('onRequest', async () => {})
        child.get('/child', async () => 'child')
      })
    },
  })
  t.equal(boot, undefined)
})

t.test('a tracing tool may wrap the guard, and name the hooks that it adds itself', async (t) => {
  const before = (app: FastifyInstance) => {
    const addHook = app.addHook.bind(app) as (event: string, hook: Hook) => FastifyInstance
    const wrapping = (event: string, hook: Hook) =>
      addHook(event, function traced(this: unknown, ...args: unknown[]) {
        return hook.apply(this, args)
      })
    wrapping('onRequest', function startSpan(_request, _reply, done) {
      ;(done as () => void)()
    })
    Object.assign(app, { addHook: wrapping })
  }
  const options = { before, after: withMe, auth: { hooksBeforeGuard: ['traced'] } }
  t.match(await bootOf(t, { before, after: withMe }), { message: /onRequest hook "traced"/ })

  const { ask } = await startHost(t, options)
  t.equal((await ask('GET', '/me', { key: null })).status, 401)
  t.match(await ask('GET', '/me'), { status: 200, body: { bootstrap: true } })
})

t.test('CORS, helmet and the request context may come first', async (t) => {
  const boot = await bootOf(t, {
    async before(app) {
      await app.register(cors, { origin: 'https://example.com' })
      await app.register(helmet)
      await app.register(requestContext)
    },
    after: async (app) => {
      await app.register(websocket)
    },
  })
  t.equal(boot, undefined)
})

t.test('an undeclared scope keeps the host from booting', async (t) => {
  const route = (scopes: unknown) => (app: FastifyInstance) =>
    void app.get('/x', { config: { scopes: scopes as string[] } }, async () => 'x')

  const undeclared = {
    code: 'SVC_AUTH_INVALID_ROUTE_SCOPES',
    message: /route GET \/x .*"billing:read".*option "scopes"/,
  }
  t.match(await bootOf(t, { after: route(['billing:read']) }), undeclared)
  t.match(await bootOf(t, { before: route(['billing:read']) }), undeclared, 'also on early routes')
  t.equal(
    await bootOf(t, { after: route(['billing:read']), auth: { scopes: ['billing:read'] } }),
    undefined,
  )
  for (const scopes of ['read', null, {}, [5], [['read']]]) {
    t.match(await bootOf(t, { after: route(scopes) }), { code: 'SVC_AUTH_INVALID_ROUTE_SCOPES' })
  }
})

t.test('a wrong option is named', async (t) => {
  const rows: [options: object, message: RegExp][] = [
    [{ protectedPath: ['/api'] }, /no option "protectedPath".*protectedPaths/],
    [{ protectedPaths: '/api' }, /"protectedPaths" must be "all" or a list/],
    [{ protectedPaths: ['/ok', 'api'] }, /"protectedPaths".*element \[1\] is "api"/],
    [{ excludePaths: '/health' }, /"excludePaths"/],
    [{ excludePaths: ['/health?x'] }, /"excludePaths".*element \[0\] is "\/health\?x"/],
    [{ bootstrapKeySecret: '' }, /"bootstrapKeySecret"/],
    [{ managementBasePath: '/' }, /"managementBasePath"/],
    [{ managementBasePath: '/_auth/' }, /"managementBasePath"/],
    [{ managementBasePath: undefined, webhooksManagementPaths: null }, /"webhooksManagementPaths"/],
    [{ rateLimit: true }, /"rateLimit" must be an object/],
    [{ rateLimit: { maxAttempts: 5, windowMs: 1000 } }, /"rateLimit.blockDurationMs" is missing/],
    [{ rateLimit: { maxAttempts: 0, windowMs: 1, blockDurationMs: 1 } }, /"rateLimit.maxAttempts"/],
    [
      { rateLimit: { maxAttempts: 1, windowMs: 1.5, blockDurationMs: 1 } },
      /"rateLimit.windowMs" must be an integer from 1 to 2147483647 \(milliseconds\), got 1.5/,
    ],
    [
      { rateLimit: { maxAttempts: 1, windowMs: 1, blockDurationMs: 2 ** 31 } },
      /"rateLimit.blockDurationMs" must be an integer from 1 to 2147483647 \(milliseconds\)/,
    ],
    [{ scopes: ['ok', 'read'] }, /"scopes".*element \[1\] is "read"/],
    [{ scopes: ['a b'] }, /"scopes"/],
    [
      { hooksBeforeGuard: [''] },
      /"hooksBeforeGuard" must be a list of functions, or of their names/,
    ],
    [{ hooksBeforeGuard: [5] }, /"hooksBeforeGuard".*element \[0\]/],
    [{ requestContext: 'yes' }, /"requestContext"/],
  ]
  for (const [options, message] of rows) {
    const app = Fastify()
    const refused = app.register(svcAuth, options as SvcAuthOptions).ready()
    await t.rejects(Promise.resolve(refused), { code: 'SVC_CORE_INVALID_OPTION', message })
  }
})
