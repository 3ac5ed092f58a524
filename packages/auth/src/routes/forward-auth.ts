/** The route for a proxy that asks whether a request to another server is allowed. */
import { Type } from '@sinclair/typebox'
import { errorResponses, withoutGate } from '@svc/core/internal'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { InvalidForwardedRequest } from '../errors.ts'
import { withKeyDemand } from '../guard/policy/policy-map.ts'
import type { SwaggerTransform } from './openapi.ts'

/** Refuses a request to another server as the guard would, or calls `done` with `request.auth` set. */
export type JudgeTarget = (
  forwarded: { method: string; target: string },
  request: FastifyRequest,
  reply: FastifyReply,
  done: () => void,
) => void

export function forwardAuthRoute(
  api: FastifyInstance,
  judge: JudgeTarget,
  swaggerTransform: SwaggerTransform,
): void {
  api.get(
    '/forward-auth',
    {
      config: withoutGate(withKeyDemand({ swaggerTransform }, 'judges-another')),
      schema: {
        summary:
          'Decide about a request to another server, for a proxy that asks before it passes it on',
        description:
          'By `protectedPaths` and `excludePaths`, for the method and the URI in `X-Forwarded-Method` and `X-Forwarded-Uri`.',
        tags: ['auth'],
        response: { 204: Type.Null(), ...errorResponses },
      },
    },
    (request, reply) => {
      const forwarded = {
        method: onlyHeader(request, 'X-Forwarded-Method', TOKEN),
        target: onlyHeader(request, 'X-Forwarded-Uri', TARGET),
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
