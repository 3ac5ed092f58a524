/** Every route of the application, as its router keeps it, whenever it was registered. */
import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import { Unprovable } from '../../errors.ts'
import type { RouterOptions } from './request-path.ts'

export interface RegisteredRoute {
  /** The very object that requests to this route carry: the route's identity. */
  readonly config: FastifyContextConfig
  readonly methods: string[]
  /** More than one where the pattern ends with an optional parameter. */
  readonly patterns: string[]
  /** The context that it was registered in. */
  readonly instance: FastifyInstance
}

/** The options stood on the server itself before they got a place of their own. */
export function routerOptionsOf({ initialConfig }: FastifyInstance): RouterOptions {
  const options = { ...initialConfig, ...initialConfig.routerOptions } as Partial<RouterOptions>
  return {
    caseSensitive: options.caseSensitive ?? true,
    ignoreTrailingSlash: options.ignoreTrailingSlash ?? false,
    ignoreDuplicateSlashes: options.ignoreDuplicateSlashes ?? false,
    useSemicolonDelimiter: options.useSemicolonDelimiter ?? false,
  }
}

/** What find-my-way hands to `buildPrettyMeta`, as far as we look at it. */
interface RouterEntry {
  path: string
  store: { config: FastifyContextConfig; server: FastifyInstance }
}

/**
 * Every route of the application, to be asked for when all are there.
 *
 * @throws Unprovable where the router does not tell of a route that Fastify has told of
 */
export function watchRoutes(app: FastifyInstance): () => RegisteredRoute[] {
  const announced = new Set<string>()
  app.addHook('onRoute', ({ url }) => void announced.add(url))
  return () => {
    const routes = readRouter(app)
    const told = new Set(routes.flatMap(({ config, patterns }) => [urlOf(config), ...patterns]))
    if ([...announced].some((url) => !told.has(url))) throw new Unprovable(app.version)
    return routes
  }
}

/**
 * `onRoute` tells of later routes only, and an `app.get()` right after a `register()` that nobody
 * awaited is an earlier one. The router knows them all: its pretty-printer calls `buildPrettyMeta`
 * with each, and takes the one that stands in its options.
 */
function readRouter(app: FastifyInstance): RegisteredRoute[] {
  const routes = new Map<FastifyContextConfig, RegisteredRoute>()
  const options = {
    includeMeta: true as const,
    get buildPrettyMeta() {
      return (entry: RouterEntry) => {
        collect(routes, entry)
        return {}
      }
    },
    set buildPrettyMeta(_replaced) {},
  }
  app.printRoutes(options)
  return [...routes.values()]
}

function collect(routes: Map<FastifyContextConfig, RegisteredRoute>, entry: RouterEntry): void {
  const { config, server } = entry.store
  const known = routes.get(config)
  if (known) {
    if (!known.patterns.includes(entry.path)) known.patterns.push(entry.path)
    return
  }
  routes.set(config, {
    config,
    methods: [methodsOf(config)].flat(),
    patterns: [entry.path],
    instance: server,
  })
}

/** Fastify adds both to the config of every route. */
const methodsOf = (config: FastifyContextConfig): string | string[] =>
  (config as { method?: string | string[] }).method ?? []

const urlOf = (config: FastifyContextConfig): string => (config as { url?: string }).url ?? ''
