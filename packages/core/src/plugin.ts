import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { RunningCore, type Core, type Svc } from './core.ts'
import { AlreadyRegistered } from './errors.ts'
import { settleCoreOptions, type SvcCoreOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    svc: Svc
  }
}

const INNER = Symbol.for('@svc/core.inner')

async function core(app: FastifyInstance, options: SvcCoreOptions): Promise<void> {
  const settings = settleCoreOptions(options)
  assertFree(app)
  const running = await RunningCore.start(settings, app.log)
  app.decorate('svc', running.svc)
  app.decorate(INNER as never, running as never)
  app.addHook('onReady', () => running.ready())
  app.addHook('onClose', () => running.close())
}

/** Actions, durable events, a key-value store, secrets and jobs, in Postgres, as `fastify.svc`. */
export const svcCore = fp(core, { name: '@svc/core', fastify: '5.x' })

/** The inner side of core; registers `svcCore` with its defaults where the host has not. */
export async function useCore(app: FastifyInstance): Promise<Core> {
  const known = innerOf(app)
  if (known) return known
  await app.register(svcCore)
  return innerOf(app) as Core
}

const innerOf = (app: FastifyInstance): Core | undefined =>
  (app as unknown as Record<symbol, Core | undefined>)[INNER]

function assertFree(app: FastifyInstance): void {
  if (innerOf(app)) {
    throw new AlreadyRegistered(
      'svcCore is registered already: register it once, and before svcAuth and svcWebhooks, which register it with its defaults where they do not find it',
    )
  }
  if (app.hasDecorator('svc')) {
    throw new AlreadyRegistered('svcCore: the host has a decorator "svc" of its own: rename it')
  }
}
