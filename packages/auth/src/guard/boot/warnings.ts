/** Warnings of the boot: of exclusions that open nothing, and of upgrades that bypass the guard. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { exclusionsOf, type PathOptions } from '../policy/path-rules.ts'
import type { RegisteredRoute } from '../policy/registered-routes.ts'

export function warnOfUselessExclusions(
  log: FastifyBaseLogger,
  options: PathOptions,
  routes: readonly RegisteredRoute[],
): void {
  const { excludePaths, protectedPaths, managementBasePath, webhooksManagementPaths } = options
  const withScopes = routes.filter(({ config }) => config.scopes !== undefined)
  const guarded = [...new Set(withScopes.flatMap(({ patterns }) => patterns))]
  const { whole, below } = exclusionsOf(excludePaths)
  const useless = [
    ...whole.filter((path) => guarded.includes(path)),
    ...guarded.filter((path) => below.some((prefix) => path.startsWith(`${prefix}/`))),
  ]
  for (const path of useless) {
    log.warn(
      { path },
      'excludePaths has no effect on a route with config.scopes: it still needs a key',
    )
  }
  const management = [managementBasePath, ...webhooksManagementPaths].filter(
    (path) => path !== null,
  )
  // Our own routes have config.scopes.
  for (const path of whole.filter((one) => !useless.includes(one))) {
    if (!management.some((base) => path === base || path.startsWith(`${base}/`))) continue
    log.warn(
      { path },
      'excludePaths has a management path: a route there without config.scopes needs no key',
    )
  }
  if (protectedPaths !== 'all' && protectedPaths.length === 0) {
    log.warn(
      'protectedPaths is empty: only management paths and routes with config.scopes need a key',
    )
  }
}

/**
 * Warns of upgrade requests that bypass Fastify. Checks when the host is ready and again when it listens: some servers are attached that late.
 */
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
