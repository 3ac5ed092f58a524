/** The routes of operations: each calls the function that the methods of `svc.auth` and `svc.webhooks` call. */
import { Type, type TProperties, type TSchema } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type {
  AnyOperation,
  ListPage,
  OperationRoute,
  Operations,
} from '../actions/define-operation.ts'
import { cutPage } from '../newest-list.ts'
import { pageOf, pageQuery, sendPage } from './pagination.ts'
import { errorResponses, nullable } from './schemas.ts'

type AnyRoute = OperationRoute<never, never>

export interface RoutesOfPackage<Caller> {
  /** In the document of @fastify/swagger. */
  tag: string
  callerOf: (request: FastifyRequest, reply: FastifyReply) => Caller
  config: (own: object | undefined, operation: string) => object
}

const closed = { additionalProperties: false }

export function operationRoutes<Caller>(
  api: FastifyInstance,
  operations: Operations<Caller>,
  { tag, callerOf, config }: RoutesOfPackage<Caller>,
): void {
  for (const [name, operation] of Object.entries(operations)) {
    for (const [at, route] of Object.entries(operation.routes ?? {})) {
      const [method = '', path = ''] = at.split(' ')
      const { summary, status = 200, statusOfDryRun = status } = route
      const schemas = requestSchemas(operation.input, method, path, route)
      const response = { [status]: operation.output, [statusOfDryRun]: operation.output }
      api.route({
        method,
        url: path === '/' ? '' : path,
        config: config(route.config, name),
        schema: {
          summary,
          tags: [tag],
          ...(route.hide && { hide: true }),
          ...schemas,
          response: { ...response, ...errorResponses, ...route.errors },
        },
        ...(route.body === 'object' && { preValidation: bodyOrDefaults }),
        ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
        handler: handlerOf(operation, route, callerOf, (request) => checkedPart(request, schemas)),
      })
    }
  }
}

/** The schemas of path, query and body, which share the fields of the input. */
function requestSchemas(
  input: TSchema,
  method: string,
  path: string,
  route: AnyRoute,
): { params?: TSchema; querystring?: TSchema; body?: TSchema } {
  const { names = {}, takes, limit, body } = route
  const fields = (input['properties'] ?? {}) as TProperties
  const { limit: _limit, after: _after, ...rest } = fields
  const params: TProperties = {}
  for (const [, named, wildcard = ''] of path.matchAll(PARAMETER)) {
    const name = named ?? wildcard
    const field = names[name] ?? name
    params[name] = Type.Optional(fields[field] ?? input, false)
    delete rest[field]
  }
  const given = takes ?? rest
  const isEmpty = Object.keys(given).length === 0
  const schema = limit === undefined ? Type.Object(given, closed) : pageQuery(limit, given)
  const mayLackBody = schema.required === undefined && body !== 'object'
  return {
    ...(Object.keys(params).length > 0 && { params: Type.Object(params) }),
    ...(method === 'GET' && !(isEmpty && limit === undefined) && { querystring: schema }),
    ...((method === 'POST' || method === 'PATCH') && {
      // Fastify validates a missing body as `null`.
      body: mayLackBody ? nullable(schema) : schema,
    }),
  }
}

const PARAMETER = /:(\w+)|(\*)/g

/** What was checked: a route that takes a body takes no query, and the other way round. */
function checkedPart(
  { query, body }: FastifyRequest,
  schemas: { querystring?: TSchema; body?: TSchema },
): object {
  if (schemas.querystring) return query as object
  return schemas.body ? (body ?? {}) : {}
}

/** No body at all means all defaults. */
async function bodyOrDefaults(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}

function handlerOf<Caller>(
  { input, run }: AnyOperation<Caller>,
  { names = {}, status = 200, statusOfDryRun = status, limit, page }: OperationRoute<Caller, never>,
  callerOf: (request: FastifyRequest, reply: FastifyReply) => Caller,
  partOf: (request: FastifyRequest) => object,
) {
  const isText = input.type === 'string'
  const read =
    page ??
    (async (by: Caller, given: never) => {
      const { limit } = given as { limit: number }
      const oneMore = { ...(given as object), limit: limit + 1 }
      const { rows, cutAt } = await cutPage(
        () => run(by, oneMore as never) as Promise<ListPage['rows']>,
      )
      return pageOf(rows, limit, cutAt)
    })
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const params = Object.entries(request.params as Record<string, string>)
    const inPath = Object.fromEntries(params.map(([name, value]) => [names[name] ?? name, value]))
    const fields = { ...partOf(request), ...inPath }
    const given = (isText ? params[0]?.[1] : fields) as never
    const by = callerOf(request, reply)
    if (limit !== undefined) {
      const asked = request.query as { limit: number }
      return sendPage(request, reply, asked.limit, await read(by, given))
    }
    const result = await run(by, given)
    const isDryRun = (fields as { dryRun?: boolean }).dryRun === true
    return reply.code(isDryRun ? statusOfDryRun : status).send(result ?? null)
  }
}
