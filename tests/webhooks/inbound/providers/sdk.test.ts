// Requests that the providers' own libraries sign, and why not all presets have one.
import t from 'tap'
import type { InboundSource } from '@svc/webhooks'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import { hostOf } from './counting-host.ts'
import { NO_SIGNER } from './sdk-without-signer.ts'
import { SIGNERS } from './sdk-signers.ts'

const JSON_TYPE = 'application/json'
const BODY = JSON.stringify({ id: 'evt_1', text: 'Zürich 🔑', big: 1e21 })

function sourceOf(provider: ProviderId): InboundSource {
  const signsUrl = provider === 'twilio'
  const options = {
    path: '/hooks/a',
    secretName: 'SECRET',
    ...(signsUrl && { publicOrigin: 'https://example.com' }),
  }
  return (providers[provider] as (options: object) => InboundSource)(options)
}

for (const { library, provider, secret, sign, type = JSON_TYPE, body = BODY } of SIGNERS) {
  t.test(`what ${library} signs for ${provider} is accepted, and nothing changed`, async (t) => {
    const signed = await sign(body)
    const source = sourceOf(provider)
    const { app, published, payloads } = hostOf(t, source, { SECRET: secret })
    const text = signed.body ?? body
    const headers: Record<string, string> = { 'content-type': type, ...signed.headers }
    const post = (payload: string, more: Record<string, string> = {}) => {
      const request = { method: 'POST' as const, url: '/hooks/a', body: payload }
      return app.inject({ ...request, headers: { ...headers, ...more } })
    }
    t.equal((await post(text)).statusCode, 200)
    t.equal((await post(text.replace('Z', 'z'))).statusCode, 401, 'another body')
    for (const [name, value] of Object.entries(signed.headers)) {
      t.equal((await post(text, { [name]: `${value}x` })).statusCode, 401, `another ${name}`)
      t.equal((await post(text, { [name]: '' })).statusCode, 401, `no ${name}`)
    }
    t.equal(published.length, 1)
    if (type === JSON_TYPE && !source.split) t.strictSame(payloads, [text])
  })
}

t.test('each preset has a request of a library that signs, or a reason for none', async (t) => {
  const reasons = Object.entries(NO_SIGNER).flatMap(([reason, presets]) =>
    Object.keys(presets).map((id) => `${id}: ${reason}`),
  )
  const named = [...new Set(SIGNERS.map(({ provider }) => provider))]
  const all = [...named, ...reasons.map((one) => one.split(':')[0] as ProviderId)]
  t.strictSame(
    all.toSorted(),
    providers
      .list()
      .map(({ id }) => id)
      .toSorted(),
  )
})
