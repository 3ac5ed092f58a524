import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { RunningCore, type Core, type Svc } from './core.ts'
import { settleCoreOptions, type SvcCoreOptions } from './options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    svc: Svc
  }
}

const INNER = Symbol.for('@svc/core.inner')

async function core(app: FastifyInstance, options: SvcCoreOptions): Promise<void> {
  const running = await RunningCore.start(settleCoreOptions(options), app.log)
  app.decorate('svc', running.svc)
  app.decorate(INNER as never, running as never)
  app.addHook('onReady', () => running.ready())
  app.addHook('onClose', () => running.close())
}

/** Actions, durable events, a key-value store, secrets and jobs, in Postgres, as `fastify.svc`. */
export const svcCore = fp(core, { name: '@svc/core', fastify: '5.x' })

/** The inner side of core; registers `svcCore` with its defaults where the host has not. */
export async function useCore(app: FastifyInstance): Promise<Core> {
  if (!app.hasDecorator('svc')) await app.register(svcCore)
  return (app as unknown as Record<symbol, Core>)[INNER] as Core
}
