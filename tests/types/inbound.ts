// What a host writes for its sources compiles, and what it gets wrong does not.
import type { FastifyInstance } from 'fastify'
import {
  basicAuth,
  bearerToken,
  headerToken,
  hmac,
  svcWebhooks,
  type InboundRequest,
  type InboundSource,
  type Verify,
} from '@svc/webhooks'

export async function hostOf(app: FastifyInstance): Promise<void> {
  await app.register(svcWebhooks, {
    allowedEvents: ['order.created'],
    inbound: {
      github: {
        path: '/hooks/github',
        publishAs: 'github.push',
        verify: hmac({
          signatureHeader: 'x-hub-signature-256',
          secretName: 'GITHUB_SECRET',
          prefix: 'sha256=',
        }),
        deduplicationKey: (request) => request.headers['x-github-delivery'] ?? null,
      },
      basic: {
        path: '/hooks/basic',
        publishAs: 'basic',
        verify: basicAuth({ username: 'u', passwordSecretName: 'P' }),
      },
      bearer: {
        path: '/hooks/bearer',
        publishAs: 'bearer',
        verify: bearerToken({ secretName: 'T' }),
        deduplicationTtlSeconds: 60,
        respond: () => null,
      },
      token: {
        path: '/hooks/token',
        publishAs: 'token',
        verify: headerToken({ header: 'x-token', secretName: 'T' }),
        respond: async () => ({ statusCode: 202, headers: { 'x-a': 'b' }, body: { a: 1 } }),
      },
    },
    bodyLimitBytes: 65_536,
  })
}

export const own: Verify = async (request, body, secret) => {
  const bytes: Buffer = request.rawBody
  const lines: string[] = request.rawHeaders
  const header: string | undefined = request.headers['x-any']
  const key: string | null = secret('KEY')
  return bytes.length + lines.length + body.length > 0 && header === key
}

export const literal: Verify = (request, _body, secret) =>
  request.headers['x-any'] === secret('KEY')

export const synchronous: Verify = (request: InboundRequest) => request.method === 'POST'

const source: InboundSource = { path: '/a', publishAs: 'a', verify: own }

// @ts-expect-error -- an algorithm that does not exist
hmac({ signatureHeader: 'x', secretName: 'S', algorithm: 'MD5' })

// @ts-expect-error -- a header without a secret
headerToken({ header: 'x' })

// @ts-expect-error -- an option of another name
basicAuth({ username: 'u', passwordSecret: 'P' })

export const wrong: InboundSource[] = [
  // @ts-expect-error -- a verification that answers with text
  { ...source, verify: () => 'yes' },
  // @ts-expect-error -- a key that is a number
  { ...source, deduplicationKey: () => 5 },
  // @ts-expect-error -- a field that does not exist
  { ...source, dedupe: () => 'k' },
  // @ts-expect-error -- an answer that is no reply
  { ...source, respond: () => 'challenge' },
]
