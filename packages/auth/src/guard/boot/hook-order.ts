/** Checks at boot that no hook of the host runs before the guard. */
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import {
  GuardNotGlobal,
  HookBeforeGuard,
  RequestContextTooLate,
  UnsupportedFastify,
} from '../../errors.ts'
import type { RegisteredRoute } from '../policy/registered-routes.ts'
import { placeOf } from './function-place.ts'

const PLUGIN_NAME = '@svc/auth'

const REQUEST_CONTEXT_HOOK = 'requestContextHook'

/** Hooks of official plugins. They do not answer requests, save CORS preflights, which carry no key. */
const KNOWN_HOOKS = [
  REQUEST_CONTEXT_HOOK,
  'handleCors',
  'helmetConfigureReply',
  'helmetApplyHeaders',
]

export type Hook = (...args: never) => unknown

/**
 * Adds the guard to the root instance, and with it to every context of the host, also to those that
 * exist already. Where svcAuth is registered inside another plugin (the `app.js` of fastify-cli),
 * the 404s of the root instance need the guard as well.
 *
 * @returns the function that Fastify keeps: tracing tools wrap every hook in one of their own
 */
export async function addGuardHook(
  app: FastifyInstance,
  guard: onRequestHookHandler,
): Promise<Hook> {
  const root = rootOf(app)
  const before = hooksOf(root).onRequest.length
  root.addHook('onRequest', guard)
  await app.after()
  const [kept, ...others] = hooksOf(root).onRequest.slice(before)
  if (kept === undefined || others.length > 0) throw new UnsupportedFastify(app.version)
  return kept
}

/**
 * A route runs the hooks of its context first, and so does a 404 handler, which is not a route.
 * Therefore every context is checked, also one without routes.
 *
 * @throws HookBeforeGuard naming the route and the hook
 * @throws GuardNotGlobal naming the route
 */
export function assertGuardFirst(
  app: FastifyInstance,
  guard: Hook,
  routes: readonly RegisteredRoute[],
  mayRunBefore: readonly (string | Hook)[],
): void {
  const isAllowed = (hook: Hook) =>
    KNOWN_HOOKS.includes(hook.name) ||
    mayRunBefore.some((allowed) => allowed === hook || allowed === hook.name)
  for (const context of contextsOf(app)) {
    const hooks = hooksOf(context).onRequest
    const position = hooks.indexOf(guard)
    if (position === -1) throw new GuardNotGlobal(nameOf(context, routes))
    const before = hooks.slice(0, position)
    const refused = before.filter((hook) => !isAllowed(hook))
    if (refused.length > 0) {
      throw new HookBeforeGuard(
        nameOf(context, routes),
        ...describe(refused[0]!, before, context),
        lineFor([...mayRunBefore, ...refused.map((hook) => hook.name || hook)]),
      )
    }
  }
}

/** Whose the hook is, and in which order it came: the plugins were registered in the order of their hooks. */
function describe(
  hook: Hook,
  before: readonly Hook[],
  { pluginName }: FastifyInstance,
): [hook: string, order: string] {
  const found = placeOf(hook)
  const place = found ? ` (${found.place})` : ''
  const of = found?.packageName === undefined ? '' : ` of the package ${found.packageName}`
  const names = before.map(quotedName).join(', ')
  const position = `number ${before.indexOf(hook) + 1} of the ${before.length} hooks before the guard (${names})`
  const chain = pluginName.split(' -> ')
  const plugins = chain
    .slice(0, chain.includes(PLUGIN_NAME) ? chain.indexOf(PLUGIN_NAME) : chain.length)
    .filter((name) => name !== 'fastify' && !name.startsWith('@svc/'))
  const order = plugins.length > 0 ? `, after the plugins ${plugins.join(', ')}` : ''
  return [`${quotedName(hook)}${of}${place}`, position + order]
}

const quotedName = ({ name }: Hook): string => (name === '' ? 'without a name' : `"${name}"`)

/** A function is shown by its name, which is what the host calls it in most cases. */
const lineFor = (hooks: readonly (string | Hook)[]): string =>
  `hooksBeforeGuard: [${hooks.map((hook) => (typeof hook === 'string' ? `'${hook}'` : hook.name || 'theFunction')).join(', ')}]`

/**
 * Routes outside of the plugin that registered svcAuth have no `request.auth`.
 *
 * @throws GuardNotGlobal naming the route
 */
export function assertRoutesEnclosed(
  app: FastifyInstance,
  routes: readonly RegisteredRoute[],
): void {
  const outside = routes.find(
    ({ instance }) => instance !== app && !Object.prototype.isPrototypeOf.call(app, instance),
  )
  if (outside) throw new GuardNotGlobal(nameOf(outside.instance, [outside]))
}

/**
 * The guard can write into the request context only after its hook has opened it.
 *
 * @throws RequestContextTooLate
 */
export function assertRequestContextFirst(app: FastifyInstance, guard: Hook): void {
  for (const context of contextsOf(app)) {
    const hooks = hooksOf(context)
    const early = hooks.onRequest.slice(0, hooks.onRequest.indexOf(guard))
    const opens = Object.values(hooks)
      .flat()
      .filter((hook) => hook.name === REQUEST_CONTEXT_HOOK)
    if (opens.some((hook) => !early.includes(hook))) throw new RequestContextTooLate()
  }
}

function nameOf(context: FastifyInstance, routes: readonly RegisteredRoute[]): string {
  const route = routes.find(({ instance }) => instance === context)
  return route
    ? `the route ${route.methods.join(', ')} ${route.patterns[0]}`
    : `404s below "${context.prefix || '/'}"`
}

type Hooks = Record<string, Hook[]> & { onRequest: Hook[] }

/** Fastify keeps hooks and contexts under symbols that it does not export. */
const hooksOf = (instance: FastifyInstance): Hooks => read(instance, 'fastify.hooks') as Hooks

function contextsOf(app: FastifyInstance): FastifyInstance[] {
  const contexts = [rootOf(app)]
  for (const context of contexts) {
    contexts.push(...(read(context, 'fastify.children') as FastifyInstance[]))
  }
  return contexts
}

/** A context's prototype is the context around it. */
export function rootOf(app: FastifyInstance): FastifyInstance {
  let root = app
  for (;;) {
    const around = Object.getPrototypeOf(root) as FastifyInstance | null
    if (around === null || !('addHook' in around)) return root
    root = around
  }
}

function read(instance: FastifyInstance, description: string): unknown {
  const symbol = Object.getOwnPropertySymbols(instance).find(
    (own) => own.description === description,
  )
  if (symbol === undefined) throw new UnsupportedFastify(instance.version)
  return (instance as unknown as Record<symbol, unknown>)[symbol]
}
