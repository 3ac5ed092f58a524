/** The proof that nothing runs before the guard: a host in which something would does not boot. */
import type { FastifyInstance } from 'fastify'
import { HookBeforeGuard, RequestContextTooLate, Unguarded, Unprovable } from '../errors.ts'
import type { RegisteredRoute } from './routes.ts'

const REQUEST_CONTEXT_HOOK = 'requestContextHook'

/** Hooks of official plugins that answer nobody, or (CORS) preflights alone, which carry no key. */
const KNOWN_HOOKS = [
  REQUEST_CONTEXT_HOOK,
  'handleCors',
  'helmetConfigureReply',
  'helmetApplyHeaders',
]

type Hook = (...args: never) => unknown

/**
 * @throws HookBeforeGuard naming the route and the hook
 * @throws Unguarded naming the route
 */
export function proveRoutes(
  routes: readonly RegisteredRoute[],
  guard: Hook,
  mayRunBefore: readonly string[],
): void {
  for (const { methods, patterns, hooks } of routes) {
    prove(`the route ${methods.join(', ')} ${patterns[0]}`, hooks, guard.name, mayRunBefore)
  }
}

/**
 * The same of every encapsulated context, with or without routes: a 404 handler is no route, and
 * runs the hooks of its context.
 *
 * @throws Unprovable
 */
export function proveContexts(
  app: FastifyInstance,
  guard: Hook,
  mayRunBefore: readonly string[],
): void {
  for (const { prefix, hooks } of contextsOf(app)) {
    const names = hooks.onRequest.map((hook) => (hook === guard ? guard.name : hook.name))
    prove(`404s below "${prefix || '/'}"`, names, guard.name, mayRunBefore)
  }
}

/**
 * Where the guard is to write into the request context, the context is open by then.
 *
 * @throws RequestContextTooLate
 */
export function proveRequestContext(app: FastifyInstance, guard: Hook): void {
  for (const { hooks } of contextsOf(app)) {
    const early = hooks.onRequest.slice(0, hooks.onRequest.indexOf(guard))
    const opens = Object.values(hooks)
      .flat()
      .filter((hook) => hook.name === REQUEST_CONTEXT_HOOK)
    if (opens.some((hook) => !early.includes(hook))) throw new RequestContextTooLate()
  }
}

function prove(
  where: string,
  hooks: readonly string[],
  guard: string,
  mayRunBefore: readonly string[],
): void {
  const position = hooks.indexOf(guard)
  if (position === -1) throw new Unguarded(where)
  const early = hooks
    .slice(0, position)
    .find((hook) => !KNOWN_HOOKS.includes(hook) && !mayRunBefore.includes(hook))
  if (early === undefined) return
  throw new HookBeforeGuard(where, early === '' ? '(it has no name)' : `"${early}"`)
}

interface Context {
  prefix: string
  hooks: Record<string, Hook[]> & { onRequest: Hook[] }
}

/** Fastify keeps its contexts and their hooks under symbols that it shows to nobody. */
function contextsOf(app: FastifyInstance): Context[] {
  const root = rootOf(app)
  const hooks = symbolOf(root, 'fastify.hooks')
  const children = symbolOf(root, 'fastify.children')
  const contexts: Context[] = []
  const queue = [root]
  for (const instance of queue) {
    contexts.push({ prefix: instance.prefix, hooks: read(instance, hooks) as Context['hooks'] })
    queue.push(...(read(instance, children) as FastifyInstance[]))
  }
  return contexts
}

/** A context's prototype is the context around it. */
function rootOf(app: FastifyInstance): FastifyInstance {
  let root = app
  for (;;) {
    const around = Object.getPrototypeOf(root) as FastifyInstance | null
    if (around === null || !('addHook' in around)) return root
    root = around
  }
}

function symbolOf(root: FastifyInstance, description: string): symbol {
  const symbol = Object.getOwnPropertySymbols(root).find((own) => own.description === description)
  if (symbol === undefined) throw new Unprovable(root.version)
  return symbol
}

const read = (instance: FastifyInstance, symbol: symbol): unknown =>
  (instance as unknown as Record<symbol, unknown>)[symbol]
