import fastify, {
  type FastifyPluginAsync,
  type FastifyPluginCallback,
  type FastifyServerOptions,
} from 'fastify'
import type pg from 'pg'
import { markWithoutServer } from './core-of.ts'
import type { SvcCoreOptions } from './core-options.ts'
import { Closed } from './errors.ts'
import { isFunction, isPlainObject, resolveOptions } from './options/check-options.ts'
import { svcCore } from './plugin.ts'
import type { Svc } from './svc.ts'

/** `fastify.svc` of a process that has no server of ours. */
export interface SvcWithoutServer extends Svc {
  /** Ends all work as `app.close()` does. After it every call rejects. A second call does nothing. */
  close: () => Promise<void>
}

/** A plugin, and its options where it has some. */
export type SvcPlugin<Options> = readonly [
  FastifyPluginAsync<Options & object> | FastifyPluginCallback<Options & object>,
  Options?,
]

/** Options of {@link createSvc}. */
export interface CreateSvcOptions<Options extends readonly unknown[] = readonly unknown[]> {
  /** The options of `svcCore`; `worker.enabled` is `false` where it is not given. */
  core?: SvcCoreOptions | undefined
  /** `svcAuth`, `svcWebhooks` and their options, in the order in which a host would register them. */
  plugins?: readonly [...{ [Index in keyof Options]: SvcPlugin<Options[Index]> }] | undefined
  /** Where warnings and errors go: Fastify's option `logger`. @default false: nowhere */
  logger?: FastifyServerOptions['logger'] | undefined
}

interface Settings {
  core: SvcCoreOptions
  plugins: readonly (readonly [FastifyPluginAsync<object>, object?])[]
  logger: NonNullable<FastifyServerOptions['logger']>
}

const rules = {
  core: { expects: 'an object: the options of svcCore', is: isPlainObject, default: {} },
  plugins: {
    expects: 'a list of pairs, a plugin and its options: [[svcWebhooks, { … }]]',
    is: Array.isArray,
    each: isPlugin,
    default: [],
  },
  logger: {
    expects: "true, false or an object: Fastify's option logger",
    is: (value: unknown) => typeof value === 'boolean' || isPlainObject(value),
    default: false,
  },
}

function isPlugin(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > 2) return false
  const [plugin, options] = value as unknown[]
  return isFunction(plugin) && (options === undefined || isPlainObject(options))
}

/**
 * The packages in a process that does not serve with Fastify: Express, Hono, Next, a script, cron. No
 * port is opened and there are no routes. Jobs are run only with `core: { worker: { enabled: true } }`.
 *
 * @throws InvalidOption, and the boot errors of `svcCore` and of the plugins
 * @example
 * const svc = await createSvc({
 *   core: { database: process.env.DATABASE_URL },
 *   plugins: [[svcWebhooks, { allowedEvents: ['order.created'] }]],
 * })
 * await svc.events.publish('order.created', { id: 7 })
 * await svc.close()
 */
export async function createSvc<Options extends readonly unknown[]>(
  given: CreateSvcOptions<Options> = {},
): Promise<SvcWithoutServer> {
  const { core, plugins, logger } = resolveOptions<Settings>('createSvc', rules, given)
  const app = fastify({ logger })
  markWithoutServer(app)
  try {
    const { worker = {} } = core
    // What is no object is refused by svcCore.
    const idle = isPlainObject(worker) ? { enabled: false, ...worker } : worker
    await app.register(svcCore, { ...core, worker: idle })
    for (const [plugin, options] of plugins) await app.register(plugin, options ?? {})
    await app.ready()
  } catch (error) {
    await app.close()
    throw error
  }
  let isClosed = false
  const close = async () => {
    isClosed = true
    await app.close()
  }
  return { ...untilClosed(app.svc, () => isClosed), close }
}

/** These two are not asynchronous. */
const NOT_ASYNC = new Set(['names', 'register'])

/** The same functions, which reject once it is closed: a pool of the host's own would still answer them. */
function untilClosed<Part extends object>(part: Part, isClosed: () => boolean): Part {
  const wrapped = (name: string, value: unknown): unknown => {
    if (isPlain(value)) return untilClosed(value, isClosed)
    if (name === 'database') return poolUntilClosed(value as pg.Pool, isClosed)
    if (!isFunction(value) || NOT_ASYNC.has(name)) return value
    // The operations on behalf of a caller.
    if (name === 'as') return (...args: unknown[]) => untilClosed(Object(value(...args)), isClosed)
    return (...args: unknown[]) => (isClosed() ? Promise.reject(new Closed()) : value(...args))
  }
  const entries = Object.entries(part).map(([name, value]) => [name, wrapped(name, value)])
  return Object.fromEntries(entries) as Part
}

/** A pool that was given is not ended, and one of ours would reject as a pool. */
const poolUntilClosed = (pool: pg.Pool, isClosed: () => boolean): pg.Pool =>
  new Proxy(pool, {
    get: (_, key) =>
      isClosed() && (key === 'query' || key === 'connect')
        ? () => Promise.reject(new Closed())
        : Reflect.get(pool, key, pool),
  })

/** A part of svc, as `svc.events` is; the pool and pg-boss are objects of classes. */
const isPlain = (value: unknown): value is object =>
  isPlainObject(value) && Object.getPrototypeOf(value) === Object.prototype
