/** Every route of the application as its router has it, also those registered before svcAuth. */
import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import { UnsupportedFastify } from '../../errors.ts'
import type { RouterOptions } from './request-path.ts'

export interface RegisteredRoute {
  /** The object that requests to this route carry. It identifies the route. */
  readonly config: FastifyContextConfig
  readonly methods: string[]
  /** More than one where the pattern ends with an optional parameter. */
  readonly patterns: string[]
  /** The context that it was registered in. */
  readonly instance: FastifyInstance
}

/** Older versions of Fastify 5 have the options on the server itself. */
export function routerOptionsOf({ initialConfig }: FastifyInstance): RouterOptions {
  const options = { ...initialConfig, ...initialConfig.routerOptions } as Partial<RouterOptions>
  return {
    caseSensitive: options.caseSensitive ?? true,
    ignoreTrailingSlash: options.ignoreTrailingSlash ?? false,
    ignoreDuplicateSlashes: options.ignoreDuplicateSlashes ?? false,
  }
}

/** The part that is used of what find-my-way passes to `buildPrettyMeta`. */
interface RouterEntry {
  path: string
  store: { config: FastifyContextConfig; server: FastifyInstance }
}

/**
 * Returns a function that lists every route of the application, to be called when all are registered.
 * It throws UnsupportedFastify where the router does not show a route that Fastify has announced.
 */
export function collectRoutes(app: FastifyInstance): () => RegisteredRoute[] {
  const announced = new Set<string>()
  app.addHook('onRoute', ({ url }) => void announced.add(url))
  return () => {
    const routes = readRouter(app)
    const listed = new Set(routes.flatMap(({ config, patterns }) => [urlOf(config), ...patterns]))
    if ([...announced].some((url) => !listed.has(url))) throw new UnsupportedFastify(app.version)
    return routes
  }
}

/**
 * `onRoute` reports later routes only, and an `app.get()` right after a `register()` that was not
 * awaited is an earlier one. The router has all of them: its pretty-printer calls the option
 * `buildPrettyMeta` with each. Fastify sets that option to a function of its own, which the setter
 * ignores.
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
