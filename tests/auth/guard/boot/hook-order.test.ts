import requestContext from '@fastify/request-context'
import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import t from 'tap'
import {
  addGuardHook,
  assertGuardFirst,
  assertRequestContextFirst,
  assertRoutesEnclosed,
  rootOf,
} from '../../../../packages/auth/src/guard/boot/hook-order.ts'
import { collectRoutes } from '../../../../packages/auth/src/guard/policy/registered-routes.ts'

/** A host whose guard lets everything pass, and what the checks at boot say of it. */
async function boot(build: (app: FastifyInstance, addGuard: () => Promise<void>) => unknown) {
  const app = Fastify()
  const routes = collectRoutes(app)
  let guard: Awaited<ReturnType<typeof addGuardHook>> | undefined
  await build(app, async () => {
    // As in a plugin: hooks that were added before are there.
    await app.after()
    guard = await addGuardHook(app, (_request, _reply, done) => done())
  })
  await app.ready()
  return {
    app,
    check: (mayRunBefore: string[] = []) => {
      assertGuardFirst(app, guard!, routes(), mayRunBefore)
      assertRequestContextFirst(app, guard!)
    },
  }
}

async function early(): Promise<void> {}
const pass = async () => ''

t.test('a guard that is the first hook of every context passes', async (t) => {
  const { app, check } = await boot(async (app, addGuard) => {
    void app.register(async (child) => void child.get('/before', pass))
    await addGuard()
    app.addHook('onRequest', early)
    app.get('/', pass)
    void app.register(async (child) => void child.addHook('onRequest', early).get('/after', pass))
  })
  t.doesNotThrow(check)
  await app.close()
})

t.test('a hook before the guard is named, with the route', async (t) => {
  const cases: [build: Parameters<typeof boot>[0], message: RegExp][] = [
    [
      async (app, addGuard) => {
        app.addHook('onRequest', early)
        await addGuard()
        app.get('/x', pass)
      },
      /on the route GET.* \/x the onRequest hook "early"/,
    ],
    [
      async (app, addGuard) => {
        app.addHook('onRequest', async () => {})
        await addGuard()
      },
      /on 404s below "\/" the onRequest hook without a name/,
    ],
    [
      async (app, addGuard) => {
        await app.register(async (child) => void child.addHook('onRequest', early), {
          prefix: '/v1',
        })
        await addGuard()
      },
      /on 404s below "\/v1" the onRequest hook "early"/,
    ],
  ]
  for (const [build, message] of cases) {
    const { app, check } = await boot(build)
    t.throws(() => check(), { code: 'SVC_AUTH_HOOK_BEFORE_GUARD', message })
    await app.close()
  }
})

t.test('a hook that may run before the guard passes by its name', async (t) => {
  const { app, check } = await boot(async (app, addGuard) => {
    app.addHook('onRequest', early)
    await addGuard()
  })
  t.doesNotThrow(() => check(['early']))
  await app.close()
})

t.test('a request context that is opened after the guard is an error', async (t) => {
  const late = await boot(async (app, addGuard) => {
    await addGuard()
    await app.register(requestContext)
  })
  t.throws(() => late.check(), { code: 'SVC_AUTH_REQUEST_CONTEXT_TOO_LATE' })
  const before = await boot(async (app, addGuard) => {
    await app.register(requestContext)
    await addGuard()
  })
  t.doesNotThrow(() => before.check())
  await late.app.close()
  await before.app.close()
})

t.test('routes outside of the plugin that has the guard are named', async (t) => {
  const app = Fastify()
  let inner: FastifyInstance | undefined
  const routes = collectRoutes(app)
  await app.register(async (child) => {
    inner = child
    await child.register(fp(async (shared) => void shared.get('/shared', pass)))
    child.get('/inside', pass)
  })
  t.doesNotThrow(() => assertRoutesEnclosed(inner!, routes()))
  t.equal(rootOf(inner!), app)
  app.get('/outside', pass)
  t.throws(() => assertRoutesEnclosed(inner!, routes()), {
    code: 'SVC_AUTH_GUARD_NOT_GLOBAL',
    message: /does not reach the route GET.* \/outside/,
  })
  await app.close()
})

t.test('a Fastify without its symbols is an error', async (t) => {
  const app = { version: '5.99.0', addHook() {} } as unknown as FastifyInstance
  t.throws(() => assertGuardFirst(app, early, [], []), {
    code: 'SVC_AUTH_UNSUPPORTED_FASTIFY',
    message: /Fastify 5\.99\.0/,
  })
  await t.rejects(
    addGuardHook(app, () => {}),
    { code: 'SVC_AUTH_UNSUPPORTED_FASTIFY' },
  )
})
