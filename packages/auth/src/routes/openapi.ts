/**
 * What svcAuth adds to the document of @fastify/swagger, where the host has registered it before
 * svcAuth: the ways to send a key, and for each route the scopes that open it.
 */
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import type { AuthSettings } from '../options.ts'
import { requirementOf } from '../guard/guard.ts'
import type { Policy } from '../guard/policy/route-policy.ts'
import type { Scope } from '../scopes.ts'

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

/** How a key may be sent: see the options. */
export type KeyWays = Pick<AuthSettings, 'keyHeaders' | 'basic'>

const description = 'The scope "admin" opens every route.'
const inHeader = (name: string): object => ({ type: 'apiKey', in: 'header', name, description })

/** The schemes by their names: those of OpenAPI, and those of Swagger 2, which has no Bearer. */
function schemesOf({ keyHeaders, basic }: KeyWays): { openapi: Schemes; swagger: Schemes } {
  const others = keyHeaders.filter((name) => name !== 'x-api-key')
  const headers: Schemes = {
    apiKey: inHeader('X-API-Key'),
    ...Object.fromEntries(others.map((name, index) => [`apiKey${index + 2}`, inHeader(name)])),
  }
  return {
    openapi: {
      ...headers,
      bearer: { type: 'http', scheme: 'bearer', description },
      ...(basic && { basic: { type: 'http', scheme: 'basic', description } }),
    },
    swagger: {
      ...headers,
      bearer: inHeader('Authorization'),
      ...(basic && { basic: { type: 'basic', description } }),
    },
  }
}

export type SwaggerTransform = (route: DescribedRoute) => { schema: FastifySchema; url: string }

/**
 * @fastify/swagger calls its result, from `config.swaggerTransform`, before it describes the route, and
 * fails on a route whose schemes are not declared. The first route with such schemes must have it:
 * therefore the management routes are registered before any other.
 */
export function declaringSchemes(ways: KeyWays): SwaggerTransform {
  const { openapi, swagger } = schemesOf(ways)
  return (route) => {
    const { openapiObject, swaggerObject } = route
    if (openapiObject) {
      openapiObject.components ??= {}
      openapiObject.components.securitySchemes = {
        ...openapi,
        ...openapiObject.components.securitySchemes,
      }
    }
    if (swaggerObject) {
      swaggerObject.securityDefinitions = { ...swagger, ...swaggerObject.securityDefinitions }
    }
    return { schema: route.schema, url: route.url }
  }
}

/** Writes `security` into the schema of every later route whose own schema has none. */
export function describeRoutes(
  app: FastifyInstance,
  ways: KeyWays,
  policyOf: (pattern: string, config: FastifyContextConfig | undefined) => Policy,
): void {
  const schemes = Object.keys(schemesOf(ways).openapi)
  app.addHook('onRoute', (route) => {
    const policy = policyOf(route.url, route.config)
    if (policy.kind === 'open') return
    const [method = 'GET'] = [route.method].flat()
    const { scopes } = requirementOf(policy, method)
    // An empty element: the route takes requests without a key as well.
    const security = [...alternatives(scopes, schemes), ...(policy.isOptional ? [{}] : [])]
    const schema: object = { security, ...route.schema }
    route.schema = schema
  })
}

/** Any one element of the list is enough: each scope, sent in each way. */
function alternatives(
  scopes: readonly Scope[] | null,
  schemes: readonly string[],
): Record<string, Scope[]>[] {
  if (scopes === null) return schemes.map((scheme) => ({ [scheme]: [] }))
  // An empty list would mean that the route is open.
  const named = scopes.length > 0 ? scopes : ['admin']
  return named.flatMap((scope) => schemes.map((scheme) => ({ [scheme]: [scope] })))
}
