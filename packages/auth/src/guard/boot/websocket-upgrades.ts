/** Warns of upgrade requests that bypass Fastify, and so the guard. */
import type { FastifyInstance } from 'fastify'

/** Checks when the host is ready and again when it listens: some servers are attached that late. */
export function warnOfUnguardedUpgrades(app: FastifyInstance): void {
  let isLogged = false
  const check = () => {
    // `@fastify/websocket` has one listener, which hands upgrades to Fastify's routes.
    const guarded = app.hasDecorator('websocketServer') ? 1 : 0
    if (isLogged || app.server.listenerCount('upgrade') <= guarded) return
    isLogged = true
    app.log.warn(
      'a listener for "upgrade" on the server itself (a WebSocket server, Socket.IO) is not guarded by svcAuth',
    )
  }
  app.addHook('onReady', async () => check())
  app.addHook('onListen', async () => check())
}
