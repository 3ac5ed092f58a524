/** Registers the plugins on the Fastify of a Nest application, the guard before Nest's middleware. */
import type { HttpAdapterHost } from '@nestjs/core'
import { svcCore } from '@svc/core'
import type { FastifyInstance } from 'fastify'
import { NotOnFastify } from './errors.ts'
import { hooksOfAdapter, learnNestHooks, takeMiddleware, type NestHooks } from './nest-hooks.ts'
import type { SvcModuleOptions } from './svc-module.ts'
import type { SvcService } from './svc-service.ts'

export interface Plugins {
  hooks: NestHooks
  registrations: ((app: FastifyInstance) => void)[]
}

/** Imports the packages that have options: the others may not be installed. */
export async function importPlugins(options: SvcModuleOptions): Promise<Plugins> {
  const { core = {}, auth, webhooks, console } = options
  const hooks = await learnNestHooks()
  const registrations: Plugins['registrations'] = [(app) => void app.register(svcCore, core)]
  if (auth) {
    const { svcAuth } = await import('@svc/auth')
    registrations.push((app) => {
      // Options that are a function are asked for when the hooks of the adapter have been added.
      app.register(svcAuth, () => ({
        ...auth,
        hooksBeforeGuard: [...(auth.hooksBeforeGuard ?? []), ...hooksOfAdapter(app, hooks)],
      }))
    })
  }
  if (webhooks) {
    const { svcWebhooks } = await import('@svc/webhooks')
    registrations.push((app) => void app.register(svcWebhooks, webhooks))
  }
  if (console) {
    const { svcConsole } = await import('@svc/console')
    registrations.push((app) => void app.register(svcConsole, console))
  }
  return { hooks, registrations }
}

/** The fields of `svc` are there when the plugins have booted. */
export function mount(
  adapter: HttpAdapterHost['httpAdapter'] | null | undefined,
  { hooks, registrations }: Plugins,
  svc: SvcService,
): FastifyInstance {
  if (adapter?.getType() !== 'fastify') throw new NotOnFastify()
  const app = adapter.getInstance<FastifyInstance>()
  const middleware = takeMiddleware(app, hooks)
  for (const register of registrations) register(app)
  // It is added to the contexts that were made meanwhile as well.
  if (middleware) app.addHook('onRequest', middleware)
  app.after(() => void Object.assign(svc, app.svc))
  return app
}
