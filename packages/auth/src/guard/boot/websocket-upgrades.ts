/** Warns of upgrade requests that bypass Fastify, and so the guard. */
import type { FastifyInstance } from 'fastify'

/** Checks when the host is ready and again when it listens: some servers are attached that late. */
export function warnOfUnguardedUpgrades(app: FastifyInstance): void {
  let isLogged = false
  const check = () => {
    // `@fastify/websocket` has one listener, which hands upgrades to Fastify's routes.
    const ofWebsocket = app.hasDecorator('websocketServer') ? 1 : 0
    const others = app.server.listeners('upgrade').filter((one) => !isOfHttpProxy(app, one))
    if (isLogged || others.length <= ofWebsocket) return
    isLogged = true
    app.log.warn(
      'a listener for "upgrade" on the server itself (a WebSocket server, Socket.IO) is not guarded by svcAuth',
    )
  }
  app.addHook('onReady', async () => check())
  app.addHook('onListen', async () => check())
}

/**
 * `@fastify/http-proxy` with `websocket: true` hands upgrades to Fastify's routes as well. Its
 * decorators are those of the instance that it is registered on; its listener, which all its
 * instances share, it keeps on the server under a symbol of its own.
 */
const isOfHttpProxy = ({ server }: FastifyInstance, listener: unknown): boolean =>
  Object.getOwnPropertySymbols(server).some(
    (symbol) =>
      symbol.description === 'wsUpgradeListener' &&
      (server as unknown as Record<symbol, unknown>)[symbol] === listener,
  )
