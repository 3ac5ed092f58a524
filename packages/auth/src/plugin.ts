import { bootOnCore, managementApi, type Core } from '@svc/core/internal'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { registerActions } from './operations/named-actions.ts'
import { createAuthOperations } from './operations/svc-auth.ts'
import { auditLog } from './guard/refusal-log.ts'
import { refuseOpenManagement, warnOfVainExclusions } from './guard/boot/useless-exclusions.ts'
import { makeGuard } from './guard/guard.ts'
import { openKeys } from './guard/keys/open-keys.ts'
import { pathRules } from './guard/policy/path-rules.ts'
import { Policies } from './guard/policy/policy-map.ts'
import {
  addFirstHook,
  proveEnclosed,
  proveFirst,
  proveRequestContext,
  rootOf,
} from './guard/boot/hook-order.ts'
import { requestContextMirror } from './guard/request-context.ts'
import { routerOptionsOf, watchRoutes } from './guard/policy/registered-routes.ts'
import { warnOfUnguardedUpgrades } from './guard/boot/websocket-upgrades.ts'
import { AuthAlreadyRegistered } from './errors.ts'
import { describeRoutes } from './routes/openapi.ts'
import { createOperationContext } from './operations/context.ts'
import { createOperations } from './operations/operations.ts'
import { settleAuthOptions, type AuthSettings, type SvcAuthOptions } from './options.ts'
import { managementRoutes, unknownId } from './routes/management.ts'
import type { Scope } from './scopes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scopes of which one, or `admin`, opens the route. They guard it wherever it stands. */
    scopes?: Scope[]
  }
}

const MIGRATIONS = new URL('../sql/', import.meta.url)

/** Whether the guard asks for a key: for our other packages, which do not know this one. */
const GUARDS = Symbol.for('@svc/auth.guards')

async function auth(app: FastifyInstance, given: SvcAuthOptions): Promise<void> {
  assertFirst(app)
  const settings = settleAuthOptions(given)
  refuseOpenManagement(withPrefix(settings, app.prefix))
  bootOnCore(
    app,
    '@svc/auth',
    (core) => core.migrate('@svc/auth', MIGRATIONS),
    (core) => mount(app, core, settings),
  )
}

async function mount(app: FastifyInstance, core: Core, settings: AuthSettings): Promise<void> {
  const keys = await openKeys(core, settings, auditLog(app.log))
  const router = routerOptionsOf(app)
  const allRoutes = watchRoutes(app)
  const policies = new Policies(pathRules(withPrefix(settings, app.prefix), router), router)
  const mirror = await requestContextMirror(app, settings.requestContext)

  // A context has the decorators that its parent had when it was made: one for each.
  for (const context of new Set([rootOf(app), app])) context.decorateRequest('auth', null)
  const policyOf = (request: FastifyRequest) => policies.of(request)
  const guard = await addFirstHook(app, makeGuard({ ...keys, policyOf, mirror }))
  app.decorate(GUARDS, (method: string, path: string) => policies.guards(method, path))

  const context = createOperationContext(core, keys, settings)
  const operations = createOperations(context, keys.recognizer)
  core.svc.auth = createAuthOperations(operations)
  registerActions(core.svc)
  if (settings.managementBasePath !== null) {
    if (app.hasDecorator('swagger')) describeRoutes(app, (...route) => policies.foresee(...route))
    await managementApi(
      app,
      settings.managementBasePath,
      (api) => managementRoutes(api, operations),
      unknownId,
    )
  }

  app.addHook('onReady', async () => {
    const routes = allRoutes()
    proveEnclosed(app, routes)
    proveFirst(app, guard, routes, settings.hooksBeforeGuard)
    if (settings.requestContext !== false) proveRequestContext(app, guard)
    policies.settle(routes, context.scopes)
    warnOfVainExclusions(app.log, settings.excludePaths, routes)
    await keys.start()
  })
  warnOfUnguardedUpgrades(app)
  app.addHook('onClose', () => keys.stop())
}

const HOSTS = new WeakSet<FastifyInstance>()

/** @throws AuthAlreadyRegistered */
function assertFirst(app: FastifyInstance): void {
  const root = rootOf(app)
  // The symbol tells of another copy of this package.
  if (HOSTS.has(root) || app.hasDecorator(GUARDS)) throw new AuthAlreadyRegistered()
  HOSTS.add(root)
}

/** Paths in options are those of requests, save the base path, which our routes are registered under. */
const withPrefix = (settings: AuthSettings, prefix: string): AuthSettings => ({
  ...settings,
  managementBasePath:
    settings.managementBasePath === null ? null : `${prefix}${settings.managementBasePath}`,
})

/**
 * API keys: a guard before every route, scopes, brute-force blocks, and a management API for users
 * and keys. To be registered on the root instance, or in the one plugin that holds all routes.
 */
export const svcAuth = fp(auth, { name: '@svc/auth', fastify: '5.x' })
