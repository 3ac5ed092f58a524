/**
 * What svcAuth adds to the document of @fastify/swagger, where the host has registered it before
 * svcAuth: the two ways to send a key, and for each route the scopes that open it.
 */
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import type { Policy } from '../guard/policy/route-policy.ts'
import { isReading, type Scope } from '../scopes.ts'

type Schemes = Record<string, object>

interface Document {
  components?: { securitySchemes?: Schemes }
}

interface DescribedRoute {
  schema: FastifySchema
  url: string
  openapiObject?: Document
  swaggerObject?: { securityDefinitions?: Schemes }
}

const API_KEY = {
  type: 'apiKey',
  in: 'header',
  name: 'X-API-Key',
  description: 'The scope "admin" opens every route.',
}

/**
 * @fastify/swagger calls this, from `config.swaggerTransform`, before it describes the route, and
 * fails on a route whose schemes are not declared. The first route with such schemes must have it:
 * therefore the management routes are registered before any other.
 */
export function declareSchemes(route: DescribedRoute): { schema: FastifySchema; url: string } {
  const { openapiObject, swaggerObject } = route
  if (openapiObject) {
    const bearer = { type: 'http', scheme: 'bearer', description: API_KEY.description }
    openapiObject.components ??= {}
    openapiObject.components.securitySchemes = {
      apiKey: API_KEY,
      bearer,
      ...openapiObject.components.securitySchemes,
    }
  }
  if (swaggerObject) {
    const bearer = { ...API_KEY, name: 'Authorization' }
    swaggerObject.securityDefinitions = {
      apiKey: API_KEY,
      bearer,
      ...swaggerObject.securityDefinitions,
    }
  }
  return { schema: route.schema, url: route.url }
}

/** Writes `security` into the schema of every later route whose own schema has none. */
export function describeRoutes(
  app: FastifyInstance,
  policyOf: (pattern: string, config: FastifyContextConfig | undefined) => Policy,
): void {
  app.addHook('onRoute', (route) => {
    const policy = policyOf(route.url, route.config)
    if (policy.kind === 'open') return
    const [method = 'GET'] = [route.method].flat()
    const { scopes } = isReading(method) ? policy.reading : policy.other
    // An empty element: the route takes requests without a key as well.
    const security = [...alternatives(scopes), ...(policy.isOptional ? [{}] : [])]
    const schema: object = { security, ...route.schema }
    route.schema = schema
  })
}

/** Any one element of the list is enough: each scope, sent in either way. */
function alternatives(scopes: readonly Scope[] | null): Record<string, Scope[]>[] {
  if (scopes === null) return [{ apiKey: [] }, { bearer: [] }]
  // An empty list would mean that the route is open.
  const named = scopes.length > 0 ? scopes : ['admin']
  return named.flatMap((scope) => [{ apiKey: [scope] }, { bearer: [scope] }])
}
