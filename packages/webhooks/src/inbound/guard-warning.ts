import type { FastifyInstance } from 'fastify'
import type { Source } from './sources.ts'

/** Where svcAuth is registered, it tells here which routes it guards. */
const GUARDS = Symbol.for('@svc/auth.guards')

/** Senders of webhooks have no API key of ours: a guarded path would refuse them all. */
export function warnWhereGuarded(app: FastifyInstance, sources: Source[]): void {
  app.addHook('onReady', async () => {
    const guards: unknown = Reflect.get(app, GUARDS)
    if (typeof guards !== 'function') return
    for (const { name, path } of sources) {
      const url = `${app.prefix}${path}`
      if (guards('POST', url) !== true) continue
      app.log.warn(
        { source: name, path: url, option: 'excludePaths' },
        `svcAuth guards the inbound path ${url}, whose senders have no API key: list it in the option "excludePaths" of svcAuth`,
      )
    }
  })
}
