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
import { providers } from '@svc/webhooks/providers'

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

export const presets: InboundSource[] = [
  providers.github({ path: '/a', secretName: 'S' }),
  providers.github({ path: '/a', secretName: ['NEW', 'OLD'], publishAs: 'push' }),
  providers.stripe({ path: '/:c/a', secretName: (request) => `S_${String(request.params)}` }),
  providers.stripe({ path: '/a', secretName: 'S', tenant: () => null, toleranceSeconds: 60 }),
  providers.meta({ path: '/a', secretName: 'S', verifyTokenSecretName: 'T' }),
  providers.sns({ path: '/a', topicArn: 'arn:aws:sns:eu-west-1:1:t' }),
  providers.asana({ path: '/a', secretName: 'S', onHandshake: async () => {} }),
  // @ts-expect-error -- a provider without a secret
  providers.github({ path: '/a' }),
  // @ts-expect-error -- a provider that signs the URL, and no origin
  providers.twilio({ path: '/a', secretName: 'S' }),
  // @ts-expect-error -- a provider that is none
  providers.nobody({ path: '/a', secretName: 'S' }),
  // @ts-expect-error -- an option of another name
  providers.github({ path: '/a', secretName: 'S', dedupe: () => 'k' }),
]
