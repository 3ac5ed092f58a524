// Every preset: a genuine request, a repeat, a forged one, an old one, a wrong secret.
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import type { InboundRequest, InboundSource, SecretLookup } from '@svc/webhooks'
import { ProviderClient } from '../../../../packages/webhooks/src/inbound/provider-client.ts'
import type { Preset } from '../../../../packages/webhooks/src/inbound/providers/preset.ts'
import type { Scheme } from '../../../../packages/webhooks/src/inbound/providers/preset-schemes.ts'
import { presets } from '../../../../packages/webhooks/src/inbound/providers/presets/all.ts'
import type { Unsigned } from './filled-text.ts'
import { keysFor, signed, type Keys, type Signed } from './sign.ts'

const NOW_MS = 1_800_000_000_000
const ORIGIN = 'https://example.com'
const OPTIONS: Record<string, string> = {
  publicOrigin: ORIGIN,
  verifyTokenSecretName: 'VERIFY_TOKEN',
  topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders',
  webhookId: '8PT597110X687430LKGECATA',
  clientId: 'client-1',
  serviceAccount: 'push@acme.iam.gserviceaccount.com',
  audience: 'https://example.com/hooks',
  username: 'sender',
}

const tls = (name: string) =>
  readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url), 'utf8')

const isFetched = (scheme: Scheme): boolean =>
  'signature' in scheme && scheme.key?.certificate !== undefined

/** Whether the secret is the key: of a key that is fetched it only opens the door to that. */
const isKey = (scheme: Scheme): boolean =>
  !isFetched(scheme) && !(scheme.algorithm === 'jwt' && scheme.key !== 'secret')

/** Where the chain of a certificate is followed it must have the provider’s name. */
const signerOf = (scheme: Scheme) =>
  'signature' in scheme && scheme.key?.certificate?.issuers
    ? { certificate: 'chain/paypal', key: 'chain/leaf-key' }
    : { certificate: 'signer', key: 'signer-key' }

/** What the provider signs with; a certificate is that of the tests' own server. */
function keys(scheme: Scheme): Keys {
  if (!isFetched(scheme)) return keysFor(scheme)
  return { secret: '', private: createPrivateKey(tls(signerOf(scheme).key)) }
}

function providerClientFor(scheme: Scheme, { jwk }: Keys): ProviderClient {
  const set = JSON.stringify({ keys: [jwk], key: jwk })
  const certificate = tls(signerOf(scheme).certificate)
  const body = isFetched(scheme) ? certificate : set
  return new ProviderClient(async () => ({ statusCode: 200, body }), Date.now, [certificate])
}

/** The places that the texts of a row name, so that a request has something there. */
function placesIn(...texts: (string | undefined)[]): string[] {
  return texts.flatMap((text = '') =>
    [...text.matchAll(/\{((?!key:)[a-z]+:[^{}|]+)/g)].map(([, at = '']) => at),
  )
}

/** An event of the provider before it is signed. */
function eventOf({ split, type, deduplicate }: Preset, scheme: Scheme): Unsigned {
  const text = 'signature' in scheme ? scheme.signed : undefined
  const signature = 'signature' in scheme ? [scheme.signature.in].flat()[0] : undefined
  const isForm =
    signature?.startsWith('form:') === true ||
    text?.includes('{form:') === true ||
    (text?.includes('{params}') === true && !scheme.when?.['query:bodySHA256'])
  const unsigned: Unsigned = {
    method: 'POST',
    url: `${ORIGIN}/hooks`,
    headers: {},
    options: OPTIONS,
    split,
    ...(isForm ? { form: { From: '+14158675309', To: '+18005551212' } } : { json: jsonFor(split) }),
  }
  const wanted = placesIn(text, ...[type ?? []].flat(), ...[deduplicate ?? []].flat())
  for (const place of new Set(wanted)) fill(unsigned, place, isForm)
  const certificate = 'signature' in scheme && scheme.key?.certificate
  if (certificate) {
    const host = certificate.hosts[0]?.replace('*', 'eu-west-1')
    fill(
      unsigned,
      certificate.url.slice(1, -1),
      isForm,
      `https://${host}/key${certificate.endsWith ?? ''}`,
    )
  }
  return unsigned
}

function jsonFor(split: string | undefined): unknown {
  if (split === undefined) return {}
  return split
    .split('.')
    .filter((name) => name !== '')
    .reduceRight<unknown>((inner, name) => ({ [name]: inner }), [{}])
}

function fill(unsigned: Unsigned, place: string, isForm: boolean, text = 'x-1'): void {
  const name = place.slice(place.indexOf(':') + 1)
  const path = name.split('.')
  if (place.startsWith('header:')) unsigned.headers[name] ??= text
  if (place.startsWith('form:') && isForm) unsigned.form![name] ??= text
  if (place.startsWith('query:'))
    unsigned.url += `${unsigned.url.includes('?') ? '&' : '?'}${name}=${text}`
  if (place.startsWith('json:') && !isForm && !Array.isArray(unsigned.json)) {
    fillAt(unsigned.json as Record<string, unknown>, path, text)
  }
  if (place.startsWith('item:')) {
    const at = (unsigned.split ?? '').split('.').filter((one) => one !== '')
    const list = at.reduce<unknown>(
      (value, one) => (value as Record<string, unknown>)[one],
      unsigned.json,
    )
    fillAt((list as Record<string, unknown>[])[0]!, path, text)
  }
}

function fillAt(root: Record<string, unknown>, path: string[], text: string): void {
  const [name = '', ...rest] = path
  if (rest.length === 0) root[name] ??= text
  else if (typeof (root[name] ??= {}) === 'object')
    fillAt(root[name] as Record<string, unknown>, rest, text)
}

function requestOf({ method, url, headers, body }: Signed): InboundRequest {
  return {
    method,
    url: url.slice(ORIGIN.length),
    headers,
    rawHeaders: Object.entries(headers).flat(),
    rawBody: Buffer.from(body),
    params: {},
  } as unknown as InboundRequest
}

/** The request with one character of its signature, or of its token, changed. */
function forged(scheme: Scheme, request: Signed): Signed {
  const [place = ''] =
    'signature' in scheme
      ? [scheme.signature.in].flat()
      : 'in' in scheme
        ? [scheme.in]
        : ['header:authorization']
  const name = place.slice(place.indexOf(':') + 1)
  const flipped = (text: string) => {
    const at = text.replace(/[^A-Za-z0-9]+$/, '').length - 2
    return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1)
  }
  if (place.startsWith('header:')) {
    const headers = { ...request.headers, [name]: flipped(request.headers[name] ?? '') }
    return { ...request, headers }
  }
  const last = name.split('.').at(-1) ?? ''
  const inBody = place.startsWith('form:')
    ? new RegExp(`(${last}=)([^&]+)`)
    : new RegExp(`("${last}":")([^"]+)`)
  return {
    ...request,
    body: request.body.replace(
      inBody,
      (_, before: string, value: string) => before + flipped(value),
    ),
  }
}

const bindsBody = (scheme: Scheme): boolean =>
  scheme.binds?.some(({ of = '{body}' }) => of === '{body}') === true ||
  ('signature' in scheme && /\{(?:body|params|crc32)\}/.test(scheme.signed ?? '{body}'))

const toleranceOf = (scheme: Scheme): number | undefined => {
  if ('timestamp' in scheme) return scheme.timestamp?.toleranceSeconds
  return scheme.algorithm === 'jwt' ? scheme.toleranceSeconds : undefined
}

const make = (id: ProviderId, preset: Preset): InboundSource => {
  const needs = Object.fromEntries((preset.needs ?? []).map((need) => [need, OPTIONS[need]]))
  const options = {
    path: '/hooks',
    ...needs,
    ...(preset.secret !== null && { secretName: 'SECRET' }),
    ...(preset.handshakes?.some(({ store }) => store) && { onHandshake: () => {} }),
  }
  return (providers[id] as (options: object) => InboundSource)(options)
}

for (const [id, preset] of Object.entries(presets) as [ProviderId, Preset][]) {
  t.test(`${id}: genuine requests are accepted, forged and old ones refused`, async (t) => {
    t.intercept(Date, 'now', { value: () => NOW_MS })
    const source = make(id, preset)
    for (const [place, scheme] of preset.schemes.entries()) {
      const name = `scheme ${place}`
      const own = keys(scheme)
      const providerClient = providerClientFor(scheme, own)
      const look: SecretLookup = () => own.secret || null
      const verify = (request: Signed, lookup = look) =>
        source.verify(requestOf(request), request.body, lookup, providerClient)
      const event = eventOf(preset, scheme)
      const genuine = signed(scheme, event, own, NOW_MS)

      t.equal(await verify(genuine), true, `${name}: genuine`)
      t.equal(await verify(forged(scheme, genuine)), false, `${name}: another signature`)
      if (bindsBody(scheme)) {
        const body = genuine.body.replace(/[\]}]?$/, (end) => ` ${end}`)
        t.equal(await verify({ ...genuine, body }), false, `${name}: another body`)
      }
      const tolerance = toleranceOf(scheme)
      if (tolerance !== undefined) {
        const ago = NOW_MS - (tolerance + 2) * 1000
        t.equal(await verify(signed(scheme, event, own, ago)), false, `${name}: old`)
        const ahead = NOW_MS + (tolerance + 2) * 1000
        t.equal(await verify(signed(scheme, event, own, ahead)), false, `${name}: of the future`)
      }
      if (isKey(scheme)) {
        const other = keys(scheme).secret
        const wrong =
          other === own.secret
            ? `${scheme.secretBegins ?? ''}${other.split('').toReversed().join('')}`
            : other
        const verdict = Promise.resolve(verify(genuine, () => wrong)).catch(() => false)
        t.equal(await verdict, false, `${name}: a wrong secret`)
        await t.rejects(async () => verify(genuine, () => null), {
          code: 'SVC_WEBHOOKS_SECRET_MISSING',
        })
      }
    }
  })
}
