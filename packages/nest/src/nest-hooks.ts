/**
 * Which `onRequest` hooks of an application are Nest's own. They have no names, and a tracing tool may have
 * wrapped them: they are known by their text, which an adapter of our own shows.
 */
import { FastifyAdapter } from '@nestjs/platform-fastify'
import Fastify, { type FastifyInstance, type onRequestHookHandler } from 'fastify'

export interface NestHooks {
  /** The texts of those that the constructor of the adapter adds: CORS, security headers, 503 while closing. */
  readonly ofAdapter: readonly string[]
  /** The text of the one that runs the middleware. */
  readonly ofMiddleware: string
}

export async function learnNestHooks(): Promise<NestHooks> {
  const app = Fastify()
  await app.after()
  const ofOthers = onRequestHooks(app).length
  const adapter = new FastifyAdapter(app)
  await app.after()
  const ofAdapter = onRequestHooks(app).slice(ofOthers).map(String)
  await adapter.init()
  const ofMiddleware = String(onRequestHooks(app).at(-1))
  return { ofAdapter, ofMiddleware }
}

/** Those of the adapter. Each text finds one hook: wrapped ones, and those of the host among them, have the same. */
export function hooksOfAdapter(
  app: FastifyInstance,
  { ofAdapter }: NestHooks,
): onRequestHookHandler[] {
  const texts = [...ofAdapter]
  return onRequestHooks(app).filter((hook) => {
    const index = texts.indexOf(String(hook))
    if (index !== -1) texts.splice(index, 1)
    return index !== -1
  })
}

/**
 * NestFactory registers `@fastify/middie`, which runs the middleware, before it reads the modules. Its hook
 * is taken out, to be added again behind the guard. With `@nestjs/testing` it is not there yet.
 */
export function takeMiddleware(
  app: FastifyInstance,
  { ofMiddleware }: NestHooks,
): onRequestHookHandler | undefined {
  if (!app.hasDecorator('use')) return undefined
  const hooks = onRequestHooks(app)
  const index = hooks.findLastIndex((hook) => String(hook) === ofMiddleware)
  return index === -1 ? undefined : hooks.splice(index, 1)[0]
}

/** Fastify keeps them under a symbol that it does not export. Without it, the guard says so. */
function onRequestHooks(app: FastifyInstance): onRequestHookHandler[] {
  const symbol = Object.getOwnPropertySymbols(app).find(
    ({ description }) => description === 'fastify.hooks',
  )
  const hooks =
    symbol && (app as unknown as Record<symbol, { onRequest?: onRequestHookHandler[] }>)[symbol]
  return hooks?.onRequest ?? []
}
