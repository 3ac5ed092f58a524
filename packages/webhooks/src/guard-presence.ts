/** Warnings at boot about what `@svc/auth` guards, and about what it does not guard. */
import type { FastifyInstance } from 'fastify'

/** Where svcAuth is registered, it decorates the host with `guards(method, path)` under this symbol. */
const GUARDS = Symbol.for('@svc/auth.guards')

type Guards = (method: string, path: string) => boolean

function guardsOf(app: FastifyInstance): Guards | undefined {
  const guards: unknown = Reflect.get(app, GUARDS)
  return typeof guards === 'function' ? (guards as Guards) : undefined
}

/** The management API shows secrets: without a guard anyone who reaches it can sign deliveries. */
export function warnOfUnguardedManagement(app: FastifyInstance, basePath: string): void {
  app.addHook('onReady', async () => {
    if (guardsOf(app)) return
    app.log.warn(
      { path: `${app.prefix}${basePath}` },
      'the management routes of webhooks are open to everyone: register svcAuth of @svc/auth, or guard them yourself',
    )
  })
}

/** Senders of webhooks have no API key of ours: the guard would refuse all their requests. */
export function warnOfGuardedSources(
  app: FastifyInstance,
  sources: readonly { name: string; path: string }[],
): void {
  app.addHook('onReady', async () => {
    const guards = guardsOf(app)
    if (!guards) return
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
