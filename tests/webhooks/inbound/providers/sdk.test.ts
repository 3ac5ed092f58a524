import { sign as signGithub } from '@octokit/webhooks-methods'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import t from 'tap'
import twilio from 'twilio'
import type { InboundSource } from '@svc/webhooks'
import { providers } from '@svc/webhooks/providers'
import { eventsOf, hostOf } from '../host.ts'

const path = '/hooks/a'
const secretName = 'SECRET'
const body = JSON.stringify({ id: 'evt_1', text: 'Zürich 🔑', big: 1e21 })
const whsec = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
const JSON_TYPE = 'application/json'

interface Signed {
  sdk: string
  source: InboundSource
  secret: string
  sign: (body: string) => Promise<Record<string, string>> | Record<string, string>
  type?: string
  body?: string
}

const standard = (
  header: string,
  webhook: { sign(id: string, at: Date, body: string): string },
) => {
  return (text: string) => {
    const at = new Date()
    return {
      [`${header}-id`]: 'msg_1',
      [`${header}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
      [`${header}-signature`]: webhook.sign('msg_1', at, text),
    }
  }
}

const form = { From: '+15551234', Body: 'Zürich 🔑 & more', Media: ['b', 'a', 'a'] }
const fields = Object.entries(form).flatMap(([name, values]) =>
  [values].flat().map((value): [string, string] => [name, value]),
)
const sdks: Signed[] = [
  {
    sdk: 'stripe',
    source: providers.stripe({ path, secretName }),
    secret: 'whsec_test',
    sign: (payload) => ({
      'stripe-signature': Stripe.webhooks.generateTestHeaderString({
        payload,
        secret: 'whsec_test',
      }),
    }),
  },
  {
    sdk: '@octokit/webhooks-methods',
    source: providers.github({ path, secretName }),
    secret: 'development',
    sign: async (text) => ({ 'x-hub-signature-256': await signGithub('development', text) }),
  },
  {
    sdk: 'svix',
    source: providers.svix({ path, secretName }),
    secret: whsec,
    sign: standard('svix', new SvixWebhook(whsec)),
  },
  {
    sdk: 'standardwebhooks',
    source: providers.standardWebhooks({ path, secretName }),
    secret: whsec,
    sign: standard('webhook', new StandardWebhook(whsec)),
  },
  {
    sdk: 'twilio',
    source: providers.twilio({ path, secretName, publicOrigin: 'https://example.com' }),
    secret: 'token',
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams(fields).toString(),
    sign: () => ({
      'x-twilio-signature': twilio.getExpectedTwilioSignature(
        'token',
        'https://example.com/hooks/a',
        form,
      ),
    }),
  },
]

for (const { sdk, source, secret, sign, type = JSON_TYPE, body: text = body } of sdks) {
  t.test(`a request signed by ${sdk} is accepted once, and a changed one refused`, async (t) => {
    const { app } = await hostOf(
      t,
      { a: { ...source, deduplicationKey: () => null } },
      { secrets: { SECRET: secret } },
    )
    const headers = { 'content-type': type, ...(await sign(text)) }
    const post = (payload: string, more: Record<string, string> = {}) =>
      app.inject({
        method: 'POST',
        url: '/hooks/a',
        headers: { ...headers, ...more },
        body: payload,
      })
    t.equal((await post(text)).statusCode, 200)
    t.equal((await post(text.replace('Z', 'z'))).statusCode, 401, 'another body')
    for (const name of Object.keys(headers).filter((name) => name !== 'content-type')) {
      const value = String(headers[name as never])
      t.equal((await post(text, { [name]: `${value}x` })).statusCode, 401, `another ${name}`)
      t.equal((await post(text, { [name]: '' })).statusCode, 401, `no ${name}`)
    }
    const events = await eventsOf(app)
    t.equal(events.length, 1)
    if (type === JSON_TYPE) t.equal(events[0]?.payload, text)
    else t.strictSame(JSON.parse(events[0]?.payload ?? ''), form)
  })
}
