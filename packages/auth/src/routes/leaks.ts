import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from '@sinclair/typebox'
import { errorResponses } from '@svc/core/internal'
import { InvalidAlert, InvalidAlertSignature } from '../errors.ts'
import { alertsOf, isSigned, type GithubKey } from '../github-alerts.ts'
import { withKeyDemand } from '../guard/policy/policy-map.ts'
import { callOf, type OperationContext } from '../operations/context.ts'
import { createGithubKeys, revokeLeaked } from '../operations/leaks.ts'
import type { SwaggerTransform } from './openapi.ts'

const Feedback = Type.Array(
  Type.Object({ token_raw: Type.String(), token_type: Type.String(), label: Type.String() }),
)

/** `keys`: GitHub's, where they are not to be fetched. */
export function leakRoutes(
  api: FastifyInstance,
  context: OperationContext,
  keys: readonly GithubKey[] | undefined,
  swaggerTransform: SwaggerTransform,
): void {
  const keysFor = createGithubKeys(keys)
  void api.register(async (raw: FastifyInstance) => {
    raw.removeAllContentTypeParsers()
    // The signature is over the bytes.
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    raw.post(
      '/leaks/github',
      {
        // GitHub has no key of ours: its signature is checked instead.
        config: withKeyDemand({ swaggerTransform }, 'decides-itself'),
        schema: {
          summary: "Take alerts of GitHub's secret scanning, and revoke the keys among them",
          tags: ['auth'],
          response: { 200: Feedback, ...errorResponses },
        },
      },
      async (request) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const identifier = headerOf(request, 'github-public-key-identifier')
        const signature = headerOf(request, 'github-public-key-signature')
        if (!isSigned(body, signature, identifier, await keysFor(identifier))) {
          throw new InvalidAlertSignature()
        }
        const alerts = alertsOf(body)
        if (!alerts) throw new InvalidAlert()
        return revokeLeaked(context, alerts, callOf(request))
      },
    )
  })
}

/** @throws InvalidAlertSignature */
function headerOf({ headers }: FastifyRequest, name: string): string {
  const value = headers[name]
  if (typeof value !== 'string') throw new InvalidAlertSignature()
  return value
}
