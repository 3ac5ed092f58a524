import type { FastifyInstance } from 'fastify'

/** Where svcAuth is registered, it tells here which routes it guards. */
const GUARDS = Symbol.for('@svc/auth.guards')

/** Whoever reads a secret can sign: without a guard the management routes stand open. */
export function warnWhereOpen(app: FastifyInstance, basePath: string): void {
  app.addHook('onReady', async () => {
    if (typeof Reflect.get(app, GUARDS) === 'function') return
    app.log.warn(
      { path: `${app.prefix}${basePath}` },
      `the webhooks management routes under ${app.prefix}${basePath} stand open to everybody: register svcAuth of @svc/auth, or guard them yourself`,
    )
  })
}
