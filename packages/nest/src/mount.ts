/** Registers the plugins on the Fastify of a Nest application, the guard before Nest's middleware. */
import type { HttpAdapterHost } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { SvcAuthOptions } from '@svc/auth'
import { svcCore } from '@svc/core'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { NotOnFastify } from './errors.ts'
import type { SvcModuleOptions } from './svc-module.ts'
import type { SvcService } from './svc-service.ts'

type Registration = (app: FastifyInstance) => void

/** Imports the packages that have options: the others may not be installed. */
export async function importPlugins(options: SvcModuleOptions): Promise<Registration[]> {
  const { core = {}, auth, webhooks, console } = options
  const plugins: Registration[] = [(app) => void app.register(svcCore, core)]
  if (auth) {
    const { svcAuth } = await import('@svc/auth')
    plugins.push((app) => void app.register(svcAuth, () => withHooksOfNest(app, auth)))
  }
  if (webhooks) {
    const { svcWebhooks } = await import('@svc/webhooks')
    plugins.push((app) => void app.register(svcWebhooks, webhooks))
  }
  if (console) {
    const { svcConsole } = await import('@svc/console')
    plugins.push((app) => void app.register(svcConsole, console))
  }
  return plugins
}

/** The fields of `svc` are there when the plugins have booted. */
export function mount(
  adapter: HttpAdapterHost['httpAdapter'] | null | undefined,
  plugins: readonly Registration[],
  svc: SvcService,
): FastifyInstance {
  if (adapter?.getType() !== 'fastify') throw new NotOnFastify()
  const app = adapter.getInstance<FastifyInstance>()
  const middleware = takeMiddleware(app)
  for (const register of plugins) register(app)
  if (middleware) app.addHook('onRequest', middleware)
  app.after(() => void Object.assign(svc, app.svc))
  return app
}

/**
 * NestFactory registers `@fastify/middie`, which runs the middleware, before it reads the modules. Its hook
 * is taken out here, and added again behind the guard: also to the contexts that were made meanwhile.
 */
function takeMiddleware(app: FastifyInstance): onRequestHookHandler | undefined {
  const hooks = onRequestHooks(app)
  const index = hooks.findIndex(({ name }) => name === 'runMiddie')
  return index === -1 ? undefined : hooks.splice(index, 1)[0]
}

/**
 * The constructor of Nest's adapter adds hooks without names, for CORS, security headers and 503 while the
 * application closes. They may run before the guard. They are known by their text: another adapter adds them to
 * a recorder here. Each text lets one hook pass.
 */
function withHooksOfNest(app: FastifyInstance, auth: SvcAuthOptions): SvcAuthOptions {
  const texts: string[] = []
  const recorder = {
    server: { on() {} },
    addHook(kind: string, hook: unknown) {
      if (kind === 'onRequest') texts.push(String(hook))
    },
  }
  const adapter = new FastifyAdapter(recorder as never)
  adapter.initHttpServer({ forceCloseConnections: true })
  const ofNest = onRequestHooks(app).filter((hook) => {
    const index = texts.indexOf(String(hook))
    if (index !== -1) texts.splice(index, 1)
    return index !== -1
  })
  return { ...auth, hooksBeforeGuard: [...(auth.hooksBeforeGuard ?? []), ...ofNest] }
}

/** Fastify keeps them under a symbol that it does not export. Without it, the guard says so. */
function onRequestHooks(app: FastifyInstance): onRequestHookHandler[] {
  const symbol = Object.getOwnPropertySymbols(app).find(
    ({ description }) => description === 'fastify.hooks',
  )
  const hooks =
    symbol && (app as unknown as Record<symbol, { onRequest?: onRequestHookHandler[] }>)[symbol]
  return hooks?.onRequest ?? []
}
