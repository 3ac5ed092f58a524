/** What every management API is built on: one validation and one shape of errors, whatever the host has set. */
import sensible from '@fastify/sensible'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { coreOf, hasServer } from '../core-of.ts'
import { gateRoutes } from './call-gate.ts'
import { InvalidInput } from '../errors.ts'
import { BUSY, isContention } from '../postgres/contention.ts'
import { whyUnavailable } from '../postgres/connection-errors.ts'
import { loggable } from '../postgres/loggable-error.ts'
import type { ErrorAnswer, ErrorText } from './error-body.ts'
import { repeatedName } from './repeated-name.ts'
import { ERROR_SCHEMA } from './schemas.ts'
import { statusText } from './status-text.ts'
import { watchIds, type UnknownId } from './long-ids.ts'
import { compiledOnce, validatorFor, validationMessage } from '../actions/validate-input.ts'

/**
 * Registers `routes` in an encapsulated child under `prefix`: our validator (no coercion in bodies
 * and parameters, unknown fields refused), our error bodies, no caching of answers, zero bytes
 * under a JSON content type counted as no body, and few requests of a tenant at a time. The host's own
 * validator, parsers and error handler are not changed. With `unknownId`, ids that are too long for the router are answered by the error
 * that it makes. An instance of `createSvc` gets none of it.
 */
export async function managementApi(
  app: FastifyInstance,
  prefix: string,
  routes: (api: FastifyInstance) => void | Promise<void>,
  unknownId?: UnknownId,
): Promise<void> {
  if (!hasServer(app)) return
  await app.register(
    async (api: FastifyInstance) => {
      await shareErrorSchema(api)
      api.setValidatorCompiler(({ schema, httpPart }) => validatorOf(schema as object, httpPart))
      api.setSerializerCompiler(({ schema }) => serializerOf(schema as object, api))
      // A reply serializer of the host would replace the serializers of the schemas.
      api.setReplySerializer(undefined as never)
      acceptOnlyJson(api)
      keepOutOfCaches(api)
      api.setErrorHandler(errorHandler(coreOf(app)?.errorText ?? null))
      const answerLongIds = watchIds(api)
      const gate = coreOf(app)?.calls
      if (gate) gateRoutes(api, gate)
      await routes(api)
      if (unknownId) answerLongIds(unknownId)
    },
    { prefix },
  )
}

/** Keeps the routes that follow out of the document of @fastify/swagger. */
export function hideRoutes(api: FastifyInstance): void {
  api.addHook('onRoute', (route) => {
    const hidden: object = { ...route.schema, hide: true }
    route.schema = hidden
  })
}

/** A host that has registered sensible at its root has the decorators here too. */
async function shareErrorSchema(api: FastifyInstance): Promise<void> {
  if (!api.hasDecorator('httpErrors')) {
    await api.register(sensible, { sharedSchemaId: ERROR_SCHEMA })
  }
  if (api.getSchema(ERROR_SCHEMA)) return
  const text = { type: 'string' }
  api.addSchema({
    $id: ERROR_SCHEMA,
    type: 'object',
    properties: { code: text, error: text, message: text, statusCode: { type: 'integer' } },
  })
}

function validatorOf(schema: object, httpPart: string | undefined) {
  const validator = validatorFor(httpPart, schema)
  return (data: unknown) => {
    const validate = validator()
    if (validate(data)) return { value: data }
    const error = new Error(validationMessage(validate.errors, httpPart ?? 'request'))
    return { error: Object.assign(error, { statusCode: 400, code: 'SVC_INVALID_INPUT' }) }
  }
}

function serializerOf(schema: object, api: FastifyInstance) {
  const serializer = compiledOnce(() =>
    fastJsonStringify(schema, { schema: api.getSchemas() as never }),
  )
  return (data: unknown) => serializer()(data)
}

/** The parser refuses them, since a program that copies an object with such a name can be made to do more. */
const FORBIDDEN_NAME =
  'body must have no field "__proto__", and no field "constructor" with a field "prototype"'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function acceptOnlyJson(api: FastifyInstance): void {
  const parse = api.getDefaultJsonParser('error', 'error')
  api.removeAllContentTypeParsers()
  api.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body as string
    if (text === '') return done(null, undefined)
    return parse(request, text, (error, parsed) => {
      if (error) return done(isJson(text) ? new InvalidInput(FORBIDDEN_NAME) : error)
      const twice = repeatedName(text)
      if (twice === undefined) return done(null, parsed)
      return done(new InvalidInput(`body must have each name once, but has ${twice} twice`))
    })
  })
}

function keepOutOfCaches(api: FastifyInstance): void {
  api.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}

const errorHandler =
  (errorText: ErrorText | null) =>
  (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const answer = answerTo(error, request)
    if (answer.statusCode === 503 || answer.code === 'SVC_BUSY') reply.header('retry-after', '1')
    if (answer.statusCode === 401) reply.header('www-authenticate', 'Bearer')
    reply.code(answer.statusCode)
    // The response schemas describe only our own bodies.
    if (errorText) reply.type('application/json; charset=utf-8').send(errorText(answer, request))
    else reply.send(answer)
  }

/**
 * The error handler of routes whose answers a page of ours reads: the host's `errorBody` is not
 * called.
 */
export const answerPlainly = errorHandler(null)

function answerTo(error: FastifyError, request: FastifyRequest): ErrorAnswer {
  if (isContention(error)) {
    request.log.error({ err: loggable(error) }, 'database busy')
    return bodyOf(503, 'SVC_UNAVAILABLE', BUSY)
  }
  const why = whyUnavailable(error)
  if (why !== undefined) {
    request.log.error({ err: loggable(error), why }, 'database unavailable')
    return bodyOf(503, 'SVC_UNAVAILABLE', why)
  }
  const statusCode = error.statusCode && error.statusCode >= 400 ? error.statusCode : 500
  const isOurs = error.code?.startsWith('SVC_') ?? false
  if (statusCode >= 500) request.log.error({ err: loggable(error) }, 'management request failed')
  const code = isOurs ? error.code : codeOf(statusCode)
  const { oldest } = error as { oldest?: string }
  return {
    ...bodyOf(statusCode, code, messageOf(error, statusCode)),
    ...(isOurs && oldest !== undefined && { oldest }),
  }
}

function messageOf({ code, message }: FastifyError, statusCode: number): string {
  if (statusCode >= 500) return 'something went wrong, see the log'
  if (code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return message
  return 'the content type is not supported: send JSON, with the header Content-Type: application/json'
}

function bodyOf(statusCode: number, code: string, message: string): ErrorAnswer {
  return { statusCode, code, error: statusText(statusCode), message }
}

/** `415` is `SVC_UNSUPPORTED_MEDIA_TYPE`; a 400 means that the input is not valid. */
function codeOf(statusCode: number): string {
  if (statusCode === 400) return 'SVC_INVALID_INPUT'
  if (statusCode === 500) return 'SVC_INTERNAL'
  return `SVC_${statusText(statusCode)
    .toUpperCase()
    .replaceAll(/[^A-Z]+/g, '_')}`
}
