/** The routes for a proxy that asks whether a request to another server is allowed. */
import { Type } from '@sinclair/typebox'
import { errorResponses, withoutGate } from '@svc/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { InvalidForwardedRequest, UnknownForwardedScope } from '../errors.ts'
import { withKeyDemand } from '../guard/policy/policy-map.ts'
import type { Scope, ScopeNames } from '../scopes.ts'
import type { SwaggerTransform } from './openapi.ts'

export interface ForwardedRequest {
  method: string
  target: string
  /** Any one of them opens the location. `undefined`: the path of the target decides. */
  scopes: readonly Scope[] | undefined
}

/** Refuses a request to another server as the guard would, or calls `done` with `request.auth` set. */
export type JudgeTarget = (
  forwarded: ForwardedRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  done: () => void,
) => void

interface Params {
  /** Separated by commas. */
  scopes?: string
}

const DESCRIPTIONS = {
  '/forward-auth':
    'By `protectedPaths` and `excludePaths`, for the method and the URI in `X-Forwarded-Method` and `X-Forwarded-Uri`.',
  // In the path, since a proxy sets it: some pass the query and the headers of the client on.
  '/forward-auth/:scopes':
    'By the scopes in the path, separated by commas, of which the key must have any one. `X-Forwarded-Method` and `X-Forwarded-Uri` name the request.',
}

export function forwardAuthRoutes(
  api: FastifyInstance,
  judge: JudgeTarget,
  { declared }: ScopeNames,
  swaggerTransform: SwaggerTransform,
): void {
  const config: object = withoutGate(withKeyDemand({ swaggerTransform }, 'judges-another'))
  for (const [url, description] of Object.entries(DESCRIPTIONS)) {
    api.get(
      url,
      {
        config,
        schema: {
          summary:
            'Decide about a request to another server, for a proxy that asks before it passes it on',
          description,
          tags: ['auth'],
          response: { 204: Type.Null(), ...errorResponses },
        },
        onSend: copyBody,
      },
      (request, reply) => {
        const forwarded = {
          method: onlyHeader(request, 'X-Forwarded-Method', TOKEN),
          target: onlyHeader(request, 'X-Forwarded-Uri', TARGET),
          scopes: scopesOf(request.params as Params, declared),
        }
        judge(forwarded, request, reply, () => {
          const { userId = null, tenant = null, scopes = [] } = request.auth ?? {}
          // Empty rather than absent: some proxies would leave a header of the client's own in place.
          void reply
            .code(204)
            .header('x-svc-user', userId ?? '')
            .header('x-svc-tenant', tenant ?? '')
            .header('x-svc-scopes', scopes.join(' '))
            .send(null)
        })
      },
    )
  }
}

/** nginx reads no body of an answer to `auth_request`, but its headers. */
const copyBody: onSendHookHandler = (_request, reply, body, done) => {
  if (typeof body === 'string' && reply.statusCode >= 400) {
    reply.header('x-svc-refusal', body.replaceAll(NOT_OF_HEADERS, escaped))
  }
  done(null, body)
}

const NOT_OF_HEADERS = /[^\x20-\x7e]/g
/** As JSON writes a character of UTF-16 in ASCII. */
const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** @throws UnknownForwardedScope */
function scopesOf({ scopes }: Params, declared: readonly Scope[]): readonly Scope[] | undefined {
  const needed = scopes?.split(',')
  const unknown = needed?.find((scope) => !declared.includes(scope))
  if (unknown !== undefined) throw new UnknownForwardedScope(unknown)
  return needed
}

/** RFC 9110, section 5.6.2: a list of two methods is not a token. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** A target has no fragment: servers differ in what they take a # for. */
const TARGET = /^[\x21\x22\x24-\x7e]+$/

/** @throws InvalidForwardedRequest: a proxy that adds its header to one of the client decides nothing */
function onlyHeader({ raw }: FastifyRequest, name: string, format: RegExp): string {
  const given = raw.rawHeaders ?? Object.entries(raw.headers).flat()
  const lower = name.toLowerCase()
  const values = given.filter((_, i) => i % 2 === 1 && given[i - 1]?.toLowerCase() === lower)
  const [value] = values
  if (values.length !== 1 || value === undefined || !format.test(value)) {
    throw new InvalidForwardedRequest(name)
  }
  return value
}
