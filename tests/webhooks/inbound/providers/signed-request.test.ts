// The testing kit's signer, by the sources that verify.
import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import { signed, type SignedRequest } from '@svc/testing'
import type { InboundRequest, InboundSource } from '@svc/webhooks'
import { ProviderClient } from '../../../../packages/providers/src/provider-client.ts'
import type { Preset } from '../../../../packages/providers/src/preset.ts'
import { NEEDS, needsOf } from '../../../providers/needs.ts'
import type { Scheme } from '../../../../packages/providers/src/preset-schemes.ts'
import { presets } from '../../../../packages/providers/src/presets/all.ts'
import { samples } from '../../../providers/samples/all.ts'
import { keysFor } from './sign.ts'

const noFetch = async () => {
  throw new Error('nothing is to be fetched')
}

const isFetched = (scheme: Scheme): boolean =>
  scheme.algorithm === 'jwt'
    ? scheme.key !== 'secret'
    : 'signature' in scheme && (scheme.key?.certificate ?? scheme.key?.jwks) !== undefined

function sourceOf(id: ProviderId, preset: Preset): InboundSource {
  const options = {
    path: '/hooks',
    ...(preset.secret !== null && { secretName: 'SECRET' }),
    ...needsOf(preset),
  }
  return (providers[id] as (options: object) => InboundSource)(options)
}

const requestOf = (sent: SignedRequest): InboundRequest =>
  ({
    method: 'POST',
    url: sent.url,
    originalUrl: sent.url,
    headers: sent.headers,
    rawHeaders: Object.entries(sent.headers).flat(),
    rawBody: Buffer.from(sent.payload),
  }) as unknown as InboundRequest

const isGenuine = (source: InboundSource, request: InboundRequest, body: string, secret: string) =>
  source.verify(request, body, () => secret, new ProviderClient(noFetch))

const verified = (source: InboundSource, sent: SignedRequest, secret: string) =>
  isGenuine(source, requestOf(sent), sent.payload, secret)

for (const [id, preset] of Object.entries(presets) as [ProviderId, Preset][]) {
  const scheme = preset.schemes.find((one) => !isFetched(one))
  if (!scheme) continue
  t.test(`a request signed for ${preset.name} is genuine, and no other`, async (t) => {
    const source = sourceOf(id, preset)
    const keys = keysFor(scheme)
    const options = {
      ...NEEDS,
      url: 'https://example.com/hooks',
      ...(keys.private
        ? { privateKey: keys.private.export({ type: 'pkcs8', format: 'pem' }).toString() }
        : { secret: keys.secret }),
    }
    const sent = signed(id, undefined, options)
    t.equal(await verified(source, sent, keys.secret), true)
    for (const { type, body, headers, contentType = 'application/json' } of samples[id]) {
      const all = { 'content-type': contentType, ...headers }
      const typed = signed(id, body, { ...options, headers: all })
      t.equal(await verified(source, typed, keys.secret), true, type)
    }
    const other = keysFor(scheme)
    const wrong = other.secret === keys.secret ? `${keys.secret.slice(0, -2)}00` : other.secret
    t.not(await verified(source, sent, wrong), true, 'by another secret')
  })
}

t.test('ids in headers are new with each request, those of the test are kept', (t) => {
  const secret = 'x'
  const [one, two] = [1, 2].map(() => signed('github', { a: 1 }, { secret }))
  t.not(one!.headers['x-github-delivery'], two!.headers['x-github-delivery'])
  t.equal(one!.payload, '{"a":1}')
  const named = signed('github', 'x', { secret, headers: { 'X-GitHub-Delivery': 'mine' } })
  t.equal(named.headers['x-github-delivery'], 'mine')
  t.equal(named.payload, 'x')
  t.equal(named.url, undefined)
  t.end()
})

t.test('a request has the type that is asked for, with a body and without', (t) => {
  const secret = 'x'
  const bare = signed('github', undefined, { secret, type: 'pull_request' })
  t.equal(bare.headers['x-github-event'], 'pull_request')
  t.match(JSON.parse(bare.payload), { id: /^[0-9a-f-]{36}$/ })
  const own = signed('github', { a: 1 }, { secret, type: 'ping' })
  t.equal(own.headers['x-github-event'], 'ping')
  t.equal(own.payload, '{"a":1}')
  t.equal(
    signed('github', { a: 1 }, { secret }).headers['x-github-event'],
    'push',
    'one of its own',
  )
  t.match(JSON.parse(signed('stripe', undefined, { secret, type: 'invoice.paid' }).payload), {
    type: 'invoice.paid',
    id: /^[0-9a-f-]{36}$/,
  })
  t.end()
})

t.test('a request without a body is published under its type, and has a key', async (t) => {
  for (const [id, preset] of Object.entries(presets) as [ProviderId, Preset][]) {
    const scheme = preset.schemes.find((one) => !isFetched(one))
    if (!scheme || preset.type === undefined || !/[{]/.test([preset.type].flat()[0]!)) continue
    const keys = keysFor(scheme)
    const sent = signed(id, undefined, {
      ...NEEDS,
      url: 'https://example.com/hooks',
      type: 'a.b',
      ...(keys.private
        ? { privateKey: keys.private.export({ type: 'pkcs8', format: 'pem' }).toString() }
        : { secret: keys.secret }),
    })
    const source = sourceOf(id, preset)
    const request = requestOf(sent)
    t.equal(await source.verify(request, sent.payload, () => keys.secret), true, id)
    const payload: unknown = JSON.parse(
      typeof source.readAs === 'function' ? source.readAs(request, sent.payload) : sent.payload,
    )
    const [item] = source.split?.(payload) ?? []
    const { publishAs, deduplicationKey } = source
    const name =
      typeof publishAs === 'function' ? publishAs(request, sent.payload, item) : publishAs
    // Telegram and Supabase Auth have no type but the name of a field.
    if (!/\{key:/.test(JSON.stringify(preset.type))) t.match(name, /(?:^|[._])a[._]b$/, id)
    if (preset.deduplicate) t.type(deduplicationKey?.(request, sent.payload, item), 'string', id)
  }
})

t.test('of two requests without a body neither repeats the other', async (t) => {
  for (const [id, preset] of Object.entries(presets) as [ProviderId, Preset][]) {
    const scheme = preset.schemes.find((one) => !isFetched(one))
    if (!scheme || !preset.deduplicate) continue
    const { private: pair, secret } = keysFor(scheme)
    const own = pair
      ? { privateKey: pair.export({ type: 'pkcs8', format: 'pem' }).toString() }
      : { secret }
    // At one moment: some have a time in seconds in their keys.
    const options = { ...NEEDS, url: 'https://example.com/hooks', at: new Date(), ...own }
    const source = sourceOf(id, preset)
    const keys: (string | null)[] = []
    for (let i = 0; i < 2; i++) {
      const sent = signed(id, undefined, options)
      const request = requestOf(sent)
      t.equal(await isGenuine(source, request, sent.payload, secret), true, id)
      const { readAs, split, deduplicationKey } = source
      const json = typeof readAs === 'function' ? readAs(request, sent.payload) : sent.payload
      const [item] = split?.(JSON.parse(json)) ?? []
      keys.push(deduplicationKey?.(request, sent.payload, item) ?? null)
    }
    t.not(keys[0], keys[1], id)
  }
})

t.test('a request that cannot be signed is refused with a reason', (t) => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  t.throws(() => signed('nobody'), { message: /no preset "nobody"/ })
  t.throws(() => signed('stripe', {}), { message: /Stripe signs with a secret/ })
  t.throws(() => signed('discord', {}, { secret: 'x' }), { message: /option privateKey/ })
  t.doesNotThrow(() => signed('discord', {}, { privateKey: pem }))
  t.throws(() => signed('paypal', {}), { message: /fetches from it/ })
  t.throws(() => signed('square', {}, { secret: 'x', url: '/hooks' }), {
    message: /Square signs the URL/,
  })
  t.end()
})
