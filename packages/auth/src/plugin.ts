import { bootOnCore, managementApi, registerActions, type Core } from '@svc/core/internal'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { AuthAlreadyRegistered } from './errors.ts'
import {
  addGuardHook,
  assertGuardFirst,
  assertRequestContextFirst,
  assertRoutesEnclosed,
  rootOf,
} from './guard/boot/hook-order.ts'
import { warnOfUnguardedUpgrades, warnOfUselessExclusions } from './guard/boot/warnings.ts'
import { keyReader } from './guard/credentials.ts'
import { createGuard } from './guard/guard.ts'
import { GuardTelemetry } from './guard/guard-telemetry.ts'
import { createLimitCheck } from './guard/limit-check.ts'
import { createAuthentication } from './guard/keys/authentication.ts'
import { assertManagementGuarded } from './guard/policy/path-rules.ts'
import { PolicyMap } from './guard/policy/policy-map.ts'
import { collectRoutes, routerOptionsOf } from './guard/policy/registered-routes.ts'
import { anyOf } from './guard/policy/route-policy.ts'
import { redactingLog } from './guard/refusals.ts'
import { createRequestContextCopy } from './guard/request-context.ts'
import { prepareDatabase } from './migrations.ts'
import { watchAgeing } from './operations/key-ageing.ts'
import { createOperationContext } from './operations/context.ts'
import { createTenantPart } from './operations/erase-tenant.ts'
import { createOperations } from './operations/operations.ts'
import { createAuthOperations } from './operations/svc-auth.ts'
import { resolveAuthOptions, type AuthSettings, type SvcAuthOptions } from './options.ts'
import { managementRoutes, unknownId } from './routes/management.ts'
import { describeRoutes } from './routes/openapi.ts'
import type { JudgeTarget } from './routes/forward-auth.ts'
import { createScopeNames, type Scope } from './scopes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scopes of which any one, or `admin`, opens the route. They guard it at any path. */
    scopes?: Scope[]
    /**
     * Whether the route takes requests without a key. A valid key is recognised all the same, and
     * one that is not valid is refused.
     */
    public?: boolean
    /** How much a request uses of the quota of its key: 0 to 1000000. @default 1 */
    cost?: number
  }
}

/** Whether the guard requires a key: for our other packages, which do not import this one. */
const GUARDS = Symbol.for('@svc/auth.guards')

async function auth(app: FastifyInstance, given: SvcAuthOptions): Promise<void> {
  assertNotRegistered(app)
  const settings = resolveAuthOptions(given)
  assertManagementGuarded(withPrefix(settings, app.prefix))
  bootOnCore(app, '@svc/auth', prepareDatabase, (core) => mount(app, core, settings))
}

async function mount(app: FastifyInstance, core: Core, settings: AuthSettings): Promise<void> {
  const names = createScopeNames(settings.scopes, settings.roles)
  const { keyPrefix, rateLimit, maxKeysPerTenant, maxKeyLifetimeDays, tenantLimits } = settings
  // A caller does not know which process answers.
  core.lease.declareOptions('svcAuth', {
    keyPrefix,
    rateLimit,
    maxKeysPerTenant,
    maxKeyLifetimeDays,
    tenantLimits,
  })
  const log = redactingLog(app.log)
  const authentication = await createAuthentication(core, settings, names, log)
  const router = routerOptionsOf(app)
  const allRoutes = collectRoutes(app)
  const policies = new PolicyMap(withPrefix(settings, app.prefix), router)
  const copyToRequestContext = await createRequestContextCopy(app, settings.requestContext)

  // A context has the decorators that its parent had when it was created: one for each.
  for (const context of new Set([rootOf(app), app])) context.decorateRequest('auth', null)
  const { meter } = core.telemetry
  const guard = createGuard({
    ...authentication,
    policies,
    presentedKey: keyReader(settings),
    limitCheck: createLimitCheck(authentication.allowances, policies),
    copyToRequestContext,
    errorText: core.errorText,
    telemetry: meter && new GuardTelemetry(meter),
  })
  const guardHook = await addGuardHook(app, guard.hook)
  app.decorate(GUARDS, (method: string, path: string) => policies.needsKey(method, path))

  const context = createOperationContext(core, authentication, settings, names)
  const operations = createOperations(context, authentication)
  core.svc.auth = createAuthOperations(core, operations)
  watchAgeing(core, context, settings)
  core.onEraseTenant(createTenantPart(context))
  registerActions(core.svc.actions, 'svc.auth', core.svc.auth)
  const judgeTarget: JudgeTarget = ({ method, target, scopes }, ...request) =>
    guard.judge(scopes ? anyOf(scopes) : policies.policyOfTarget(target), method, ...request)
  if (settings.managementBasePath !== null) {
    if (app.hasDecorator('swagger')) {
      describeRoutes(app, settings, (...route) => policies.policyBeforeRegistration(...route))
    }
    await managementApi(
      app,
      settings.managementBasePath,
      (api) => managementRoutes(api, context, operations, settings, judgeTarget),
      unknownId,
    )
  }

  app.addHook('onReady', async () => {
    const routes = allRoutes()
    assertRoutesEnclosed(app, routes)
    assertGuardFirst(app, guardHook, routes, settings.hooksBeforeGuard)
    if (settings.requestContext !== false) assertRequestContextFirst(app, guardHook)
    policies.addRoutes(routes, names.declared)
    warnOfUselessExclusions(app.log, settings, routes)
    await authentication.start()
  })
  warnOfUnguardedUpgrades(app)
  app.addHook('onClose', () => authentication.stop())
}

const HOSTS = new WeakSet<FastifyInstance>()

/** @throws AuthAlreadyRegistered */
function assertNotRegistered(app: FastifyInstance): void {
  const root = rootOf(app)
  // The decorator is there if another copy of this package is registered.
  if (HOSTS.has(root) || app.hasDecorator(GUARDS)) throw new AuthAlreadyRegistered()
  HOSTS.add(root)
}

/** Paths in options are those of requests, except the base path, where our routes are registered. */
const withPrefix = (settings: AuthSettings, prefix: string): AuthSettings => ({
  ...settings,
  managementBasePath:
    settings.managementBasePath === null ? null : `${prefix}${settings.managementBasePath}`,
})

/**
 * API keys: a guard before every route, scopes, a lockout after failed attempts, `svc.auth`, and a
 * management API for users and keys. Register it on the root instance, or in the one plugin that
 * holds all routes.
 *
 * Boot rejects with InvalidOption (`@svc/core`), AuthAlreadyRegistered, ExclusionOpensManagement,
 * InvalidRole, InvalidRouteScopes, InvalidRouteCost, HookBeforeGuard, GuardNotGlobal,
 * RequestContextTooLate, UnsupportedFastify, and with the errors of `svcCore`.
 *
 * @example
 * await app.register(svcAuth, { bootstrapKeySecret: 'BOOTSTRAP_KEY', scopes: ['billing:read'] })
 * app.get('/invoices', { config: { scopes: ['billing:read'] } }, listInvoices)
 * @see https://www.rfc-editor.org/rfc/rfc6750 for `Authorization: Bearer`
 * @see https://www.rfc-editor.org/rfc/rfc7235 for 401 and `WWW-Authenticate`
 */
export const svcAuth = fp(auth, { name: '@svc/auth', fastify: '5.x' })
