// The testing kit's signer, by the sources that verify.
import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import { signedRequest } from '@svc/webhooks/testing'
import type { InboundRequest, InboundSource } from '@svc/webhooks'
import { ProviderClient } from '../../../../packages/webhooks/src/inbound/provider-client.ts'
import type { Preset } from '../../../../packages/webhooks/src/inbound/providers/preset.ts'
import type { Scheme } from '../../../../packages/webhooks/src/inbound/providers/preset-schemes.ts'
import { presets } from '../../../../packages/webhooks/src/inbound/providers/presets/all.ts'
import { samples } from '../../../../packages/webhooks/src/inbound/providers/samples/all.ts'
import { keysFor } from './sign.ts'

const OPTIONS: Record<string, string> = {
  publicOrigin: 'https://example.com',
  verifyTokenSecretName: 'VERIFY_TOKEN',
  topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders',
  webhookId: '8PT597110X687430LKGECATA',
  clientId: 'client-1',
  serviceAccount: 'push@acme.iam.gserviceaccount.com',
  audience: 'https://example.com/hooks',
  username: 'sender',
}

const noFetch = async () => {
  throw new Error('nothing is to be fetched')
}

const isFetched = (scheme: Scheme): boolean =>
  scheme.algorithm === 'jwt'
    ? scheme.key !== 'secret'
    : 'signature' in scheme && scheme.key?.certificate !== undefined

function sourceOf(id: ProviderId, { needs = [], secret }: Preset): InboundSource {
  const options = {
    path: '/hooks',
    ...(secret !== null && { secretName: 'SECRET' }),
    ...Object.fromEntries(needs.map((need) => [need, OPTIONS[need]])),
  }
  return (providers[id] as (options: object) => InboundSource)(options)
}

function verified(source: InboundSource, sent: ReturnType<typeof signedRequest>, secret: string) {
  const request = {
    method: 'POST',
    url: sent.url,
    originalUrl: sent.url,
    headers: sent.headers,
    rawHeaders: Object.entries(sent.headers).flat(),
    rawBody: Buffer.from(sent.payload),
  } as unknown as InboundRequest
  return source.verify(request, sent.payload, () => secret, new ProviderClient(noFetch))
}

for (const [id, preset] of Object.entries(presets) as [ProviderId, Preset][]) {
  const scheme = preset.schemes.find((one) => !isFetched(one))
  if (!scheme) continue
  t.test(`a request signed for ${preset.name} is genuine, and no other`, async (t) => {
    const source = sourceOf(id, preset)
    const keys = keysFor(scheme)
    const options = {
      ...OPTIONS,
      url: 'https://example.com/hooks',
      ...(keys.private
        ? { privateKey: keys.private.export({ type: 'pkcs8', format: 'pem' }).toString() }
        : { secret: keys.secret }),
    }
    const sent = signedRequest(id, undefined, options)
    t.equal(await verified(source, sent, keys.secret), true)
    for (const { type } of samples[id]) {
      const typed = signedRequest(id, undefined, { ...options, type })
      t.equal(await verified(source, typed, keys.secret), true, type)
    }
    const other = keysFor(scheme)
    const wrong = other.secret === keys.secret ? `${keys.secret.slice(0, -2)}00` : other.secret
    t.not(await verified(source, sent, wrong), true, 'by another secret')
  })
}

t.test('ids in headers are new with each request, those of the test are kept', (t) => {
  const secret = 'x'
  const [one, two] = [1, 2].map(() => signedRequest('github', { a: 1 }, { secret }))
  t.not(one!.headers['x-github-delivery'], two!.headers['x-github-delivery'])
  t.equal(one!.payload, '{"a":1}')
  const named = signedRequest('github', 'x', { secret, headers: { 'X-GitHub-Delivery': 'mine' } })
  t.equal(named.headers['x-github-delivery'], 'mine')
  t.equal(named.payload, 'x')
  t.equal(named.url, undefined)
  t.end()
})

t.test('a type names the sample, and the headers of a body', (t) => {
  const secret = 'x'
  const sample = signedRequest('github', undefined, { secret, type: 'pull_request' })
  t.equal(sample.headers['x-github-event'], 'pull_request')
  t.match(JSON.parse(sample.payload), { action: 'opened' })
  const own = signedRequest('github', { a: 1 }, { secret, type: 'ping' })
  t.equal(own.headers['x-github-event'], 'ping')
  t.equal(own.payload, '{"a":1}')
  t.throws(() => signedRequest('github', {}, { secret, type: 'fork' }), {
    message: /no sample "fork" of GitHub: there are push, pull_request, ping\./,
  })
  t.end()
})

t.test('a request that cannot be signed is refused with a reason', (t) => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  t.throws(() => signedRequest('nobody'), { message: /no preset "nobody"/ })
  t.throws(() => signedRequest('stripe', {}), { message: /Stripe signs with a secret/ })
  t.throws(() => signedRequest('discord', {}, { secret: 'x' }), { message: /option privateKey/ })
  t.doesNotThrow(() => signedRequest('discord', {}, { privateKey: pem }))
  t.throws(() => signedRequest('paypal', {}), { message: /fetches from it/ })
  t.throws(() => signedRequest('square', {}, { secret: 'x', url: '/hooks' }), {
    message: /Square signs the URL/,
  })
  t.end()
})
