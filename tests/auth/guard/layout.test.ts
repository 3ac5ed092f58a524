import { svcAuth } from '@svc/auth'
import { svcCore } from '@svc/core'
import type { FastifyInstance } from 'fastify'
import requestContext from '@fastify/request-context'
import t, { type Test as Tap } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'
import { BOOTSTRAP_KEY } from '../support/host.ts'
import { newHost } from '../../support/new-host.ts'

type Plugin = (app: FastifyInstance) => Promise<void>

/** What fastify-plugin makes of a plugin: it gets no context of its own. */
const shared = (plugin: Plugin): Plugin =>
  Object.assign((app: FastifyInstance) => plugin(app), { [Symbol.for('skip-override')]: true })

const me = async (request: { auth: unknown }) => ({ auth: request.auth })

/** Registers core and svcAuth, as a plugin of the host would. */
async function guarding(t: Tap): Promise<Plugin> {
  const database = await freshDatabase(t)
  return async (app) => {
    await app.register(svcCore, {
      database: { connectionString: database, max: 3 },
      secrets: () => BOOTSTRAP_KEY,
      worker: { enabled: false },
    })
    await app.register(svcAuth, { bootstrapKeySecret: 'BOOTSTRAP_KEY' })
  }
}

function hostOf(t: Tap, plugin: Plugin, options: { prefix?: string } = {}): FastifyInstance {
  const app = newHost(t)
  app.register(plugin, options)
  return app
}

const asker = (app: FastifyInstance) => async (url: string, key?: string) =>
  (await app.inject({ url, headers: key ? { 'x-api-key': key } : {} })).statusCode

t.test('a host that is one plugin, as fastify-cli starts it, is guarded as a whole', async (t) => {
  const guard = await guarding(t)
  for (const wrapped of [guard, shared(guard)]) {
    const app = hostOf(t, async (app) => {
      app.get('/early', me)
      await app.register(shared(wrapped))
      app.register(async (routes) => void routes.get('/late', me))
      app.get('/health', me)
    })
    const ask = asker(app)
    for (const path of ['/early', '/late', '/nothing', '/_auth/users', '/_auth/nothing']) {
      t.equal(await ask(path), 401, path)
    }
    for (const path of ['/early', '/late', '/_auth/users']) {
      t.equal(await ask(path, BOOTSTRAP_KEY), 200, path)
    }
    t.equal(await ask('/nothing', BOOTSTRAP_KEY), 404)
    t.equal(await ask('/health'), 200)
    await app.close()
  }
})

t.test('a plugin with a prefix serves the management API under the prefix, guarded', async (t) => {
  const guard = await guarding(t)
  let inner: FastifyInstance['svc'] | undefined
  const app = hostOf(
    t,
    async (app) => {
      await guard(app)
      inner = app.svc
      app.get('/_auth/own', me)
    },
    { prefix: '/v1' },
  )
  const ask = asker(app)
  t.equal(await ask('/v1/_auth/users', BOOTSTRAP_KEY), 200)
  t.equal(await ask('/v1/_auth/users'), 401)
  t.equal(await ask('/nothing'), 401)
  const { actions } = inner as FastifyInstance['svc']
  const user = await actions.call('__svc.auth.createUser', { email: 'a@example.com', name: 'A' })
  const { key } = await actions.call('__svc.auth.createApiKey', { userId: user.id })
  t.equal(await ask('/v1/_auth/own', key), 403, 'a route of the host below the base path')
})

t.test('the request context may be registered inside the guarded plugin', async (t) => {
  const guard = await guarding(t)
  const app = hostOf(t, async (app) => {
    await app.register(requestContext)
    await guard(app)
    app.get('/me', async (request) => ({ bootstrap: request.requestContext.get('auth.bootstrap') }))
  })
  const headers = { 'x-api-key': BOOTSTRAP_KEY }
  t.same((await app.inject({ url: '/me', headers })).json(), { bootstrap: true })
  t.equal((await app.inject({ url: '/nothing', headers })).statusCode, 404)
})

t.test('routes outside of the plugin keep the host from booting', async (t) => {
  const guard = await guarding(t)
  const outside: Plugin[] = [
    async (app) => {
      app.get('/sibling', me)
      app.register(async (child) => guard(child))
    },
    async (app) => {
      app.register(async (child) => guard(child))
      app.register(async (child) => void child.get('/sibling', me))
    },
  ]
  for (const plugin of outside) {
    const app = hostOf(t, plugin)
    await t.rejects(async () => await app.ready(), {
      code: 'SVC_AUTH_GUARD_NOT_GLOBAL',
      message: /does not reach the route GET(, HEAD)? \/sibling.*fastify-plugin.*skip-override/,
    })
  }
})

t.test('a hook in the plugin before the guard keeps the host from booting', async (t) => {
  const guard = await guarding(t)
  const app = hostOf(t, async (app) => {
    app.addHook('onRequest', async function early() {})
    await guard(app)
    app.get('/me', me)
  })
  await t.rejects(async () => await app.ready(), { code: 'SVC_AUTH_HOOK_BEFORE_GUARD' })
})

t.test('svcAuth registered twice is an error that says so', async (t) => {
  const guard = await guarding(t)
  const twice: Plugin[] = [
    async (app) => {
      await guard(app)
      await app.register(svcAuth)
    },
    async (app) => {
      app.register(async (child) => guard(child))
      app.register(async (child) => {
        await child.register(svcAuth)
      })
    },
  ]
  for (const plugin of twice) {
    const app = hostOf(t, shared(plugin))
    await t.rejects(async () => await app.ready(), {
      code: 'SVC_AUTH_ALREADY_REGISTERED',
      message: /registered already/,
    })
  }
})
