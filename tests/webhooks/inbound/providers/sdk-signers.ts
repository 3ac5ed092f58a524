/** Requests that the providers' own libraries have signed: what a host must accept. */
import { createHash } from 'node:crypto'
import { signRequest } from '@contentful/node-apps-toolkit'
import { signWebhookPayload } from '@notionhq/client'
import { sign as signGithub } from '@octokit/webhooks-methods'
import { encodeSignatureHeader } from '@sanity/webhook'
import { WorkOS } from '@workos-inc/node'
import { v2 as cloudinary } from 'cloudinary'
import { AccessToken } from 'livekit-server-sdk'
import ModernTreasury from 'modern-treasury'
import Pusher from 'pusher'
import Retell from 'retell-sdk'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import twilio from 'twilio'
import type { ProviderId } from '@svc/webhooks/providers'

export interface Request {
  headers: Record<string, string>
  /** @default the body that was to be signed */
  body?: string
}

export interface Signer {
  library: string
  provider: ProviderId
  secret: string
  /** @default 'application/json' */
  type?: string
  /** @default a JSON text */
  body?: string
  sign: (body: string) => Request | Promise<Request>
}

const HEX = '00112233445566778899aabbccddeeff'
const RAW = '0123456789abcdef0123456789abcdef'
const WHSEC = `whsec_${Buffer.from(RAW).toString('base64')}`
const ORIGIN = 'https://example.com'
const PATH = '/hooks/a'

const header = (name: string, value: string): Request => ({ headers: { [name]: value } })

const lowerCased = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The three headers of Standard Webhooks, under the names of the sender. */
function standard(
  library: string,
  webhook: { sign(id: string, at: Date, body: string): string },
  names: { id: string; prefix: string },
) {
  return (provider: ProviderId, secret = WHSEC): Signer => ({
    library,
    provider,
    secret,
    sign(body) {
      const at = new Date()
      return {
        headers: {
          [names.id]: 'msg_1',
          [`${names.prefix}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
          [`${names.prefix}-signature`]: webhook.sign('msg_1', at, body),
        },
      }
    },
  })
}

const bySvix = standard('svix', new SvixWebhook(WHSEC), { id: 'svix-id', prefix: 'svix' })
const byStandard = (id = 'webhook-id', prefix = 'webhook') =>
  standard('standardwebhooks', new StandardWebhook(WHSEC), { id, prefix })

/** The fields of a form, one of them repeated. */
const FORM = { From: '+15551234', Body: 'Zürich 🔑 & more', Media: ['b', 'a', 'a'] }
const FORM_BODY = new URLSearchParams(
  Object.entries(FORM).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  ),
).toString()

/** The types of these libraries lack what signs, or the option that it needs. */
const { Token } = Pusher as unknown as {
  Token: new (key: string, secret: string) => { sign(text: string): string }
}
const treasury = new ModernTreasury({ apiKey: 'none', organizationID: 'none' })

export const SIGNERS: readonly Signer[] = [
  {
    library: 'stripe',
    provider: 'stripe',
    secret: 'whsec_test',
    sign: (payload) =>
      header(
        'stripe-signature',
        Stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_test' }),
      ),
  },
  {
    library: '@octokit/webhooks-methods',
    provider: 'github',
    secret: 'development',
    sign: async (body) => header('x-hub-signature-256', await signGithub('development', body)),
  },
  {
    library: 'twilio',
    provider: 'twilio',
    secret: 'token',
    type: 'application/x-www-form-urlencoded',
    body: FORM_BODY,
    sign: () =>
      header(
        'x-twilio-signature',
        twilio.getExpectedTwilioSignature('token', `${ORIGIN}${PATH}`, FORM),
      ),
  },
  ...(['svix', 'clerk', 'resend', 'brex', 'stytch', 'incidentIo', 'recallAi'] as const).map(
    (provider) => bySvix(provider),
  ),
  ...(
    [
      'standardWebhooks',
      'render',
      'lithic',
      'dodoPayments',
      'openai',
      'replicate',
      'anthropic',
      'gitlab',
    ] as const
  ).map((provider) => byStandard()(provider)),
  byStandard()('surge'),
  byStandard()('supabaseAuth', `v1,${WHSEC}`),
  byStandard('finch-event-id', 'finch')('finch'),
  // Their secrets are the keys as they are, which the library takes in base64.
  ...(['increase', 'polar', 'bigcommerce'] as const).map((provider) => byStandard()(provider, RAW)),
  {
    library: '@sanity/webhook',
    provider: 'sanity',
    secret: 'shhh',
    sign: async (body) =>
      header('sanity-webhook-signature', await encodeSignatureHeader(body, Date.now(), 'shhh')),
  },
  {
    library: '@contentful/node-apps-toolkit',
    provider: 'contentful',
    secret: HEX + HEX,
    type: 'application/vnd.contentful.management.v1+json',
    sign(body) {
      const headers = { 'x-contentful-topic': 'ContentManagement.Entry.publish' }
      const request = { method: 'POST' as const, path: PATH, headers, body }
      return { headers: { ...headers, ...lowerCased(signRequest(HEX + HEX, request)) } }
    },
  },
  {
    library: '@workos-inc/node',
    provider: 'workos',
    secret: 'shhh',
    async sign(body) {
      const at = Date.now()
      const { webhooks } = new WorkOS('sk_test', { clientId: 'client' })
      const v1 = await webhooks.computeSignature(at, JSON.parse(body), 'shhh')
      return header('workos-signature', `t=${at}, v1=${v1}`)
    },
  },
  {
    library: 'retell-sdk',
    provider: 'retell',
    secret: 'key_118',
    sign: async (body) => header('x-retell-signature', await Retell.sign(body, 'key_118')),
  },
  {
    library: 'modern-treasury',
    provider: 'modernTreasury',
    secret: 'shhh',
    sign: (body) => header('x-signature', treasury.webhooks.getSignature(body, { key: 'shhh' })),
  },
  {
    library: 'pusher',
    provider: 'pusher',
    secret: 'shhh',
    body: '{"time_ms":1767604364412,"events":[{"name":"channel_occupied","channel":"Zürich"}]}',
    sign: (body) => header('x-pusher-signature', new Token('key', 'shhh').sign(body)),
  },
  {
    library: 'livekit-server-sdk',
    provider: 'livekit',
    secret: RAW,
    type: 'application/webhook+json',
    async sign(body) {
      const token = new AccessToken('APIkey118', RAW)
      token.sha256 = createHash('sha256').update(body).digest('base64')
      return header('authorization', await token.toJwt())
    },
  },
  ...(['sha1', 'sha256'] as const).map((algorithm): Signer => ({
    library: 'cloudinary',
    provider: algorithm === 'sha1' ? 'cloudinary' : 'cloudinarySha256',
    secret: 'shhh',
    sign(body) {
      const at = Math.floor(Date.now() / 1000)
      const options = { api_secret: 'shhh', signature_algorithm: algorithm }
      return {
        headers: {
          'x-cld-timestamp': String(at),
          'x-cld-signature': cloudinary.utils.webhook_signature(body, at, options),
        },
      }
    },
  })),
  {
    library: '@notionhq/client',
    provider: 'notion',
    secret: 'secret_118',
    sign: async (body) =>
      header(
        'x-notion-signature',
        await signWebhookPayload({ body, verificationToken: 'secret_118' }),
      ),
  },
]
