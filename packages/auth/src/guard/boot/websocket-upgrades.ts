/** Upgrade requests that never reach Fastify, and so never the guard. */
import type { FastifyInstance } from 'fastify'

/** Looks when the host is ready, and again when it listens: some attach themselves that late. */
export function warnOfUnguardedUpgrades(app: FastifyInstance): void {
  let isTold = false
  const look = () => {
    // `@fastify/websocket` has one listener, which hands upgrades to Fastify's routes.
    const guarded = app.hasDecorator('websocketServer') ? 1 : 0
    if (isTold || app.server.listenerCount('upgrade') <= guarded) return
    isTold = true
    app.log.warn(
      'something listens to "upgrade" on the server itself (a WebSocket server, Socket.IO): svcAuth does not guard it',
    )
  }
  app.addHook('onReady', async () => look())
  app.addHook('onListen', async () => look())
}
