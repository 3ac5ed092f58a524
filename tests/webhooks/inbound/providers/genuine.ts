// A genuine request of every preset, signed with a key of the test's own.
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import type { InboundSource } from '@svc/webhooks'
import { ProviderClient } from '../../../../packages/providers/src/provider-client.ts'
import type { Place, Preset } from '../../../../packages/providers/src/preset.ts'
import type { Scheme } from '../../../../packages/providers/src/preset-schemes.ts'
import { NEEDS, needsOf, ORIGIN } from '../../../providers/needs.ts'
import type { Unsigned } from './filled-text.ts'
import { keysFor, type Keys } from './sign.ts'

export { ORIGIN } from '../../../providers/needs.ts'

export const NOW_MS = 1_800_000_000_000

const tls = (name: string) =>
  readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url), 'utf8')

const isFetched = (scheme: Scheme): boolean =>
  'signature' in scheme && scheme.key?.certificate !== undefined

/** Where the chain of a certificate is followed it must have the provider’s name. */
const signerOf = (scheme: Scheme) =>
  'signature' in scheme && scheme.key?.certificate?.issuers
    ? { certificate: 'chain/paypal', key: 'chain/leaf-key' }
    : { certificate: 'signer', key: 'signer-key' }

/** What the provider signs with; a certificate is that of the tests' own server. */
export function keys(scheme: Scheme): Keys {
  if (!isFetched(scheme)) return keysFor(scheme)
  return { secret: '', private: createPrivateKey(tls(signerOf(scheme).key)) }
}

/** What a host fetches from the provider, and what it trusts. */
export function certificateFor(scheme: Scheme, { jwk }: Keys): { body: string; roots: string[] } {
  const certificate = tls(signerOf(scheme).certificate)
  const set = JSON.stringify({ keys: [jwk], key: jwk })
  return { body: isFetched(scheme) ? certificate : set, roots: [certificate] }
}

export function providerClientFor(
  scheme: Scheme,
  keys: Keys,
  now: () => number = Date.now,
): ProviderClient {
  const { body, roots } = certificateFor(scheme, keys)
  return new ProviderClient(async () => ({ statusCode: 200, body }), now, roots)
}

const XML = Buffer.from('<notification><kind>x-1</kind></notification>').toString('base64')

/** The places that the texts of a row name, so that a request has something there. */
function placesIn(...texts: (string | undefined)[]): string[] {
  return texts.flatMap((text = '') =>
    [...text.matchAll(/\{((?!key:|base64url:|option:)[a-z]+:[^{}|]+)/g)].map(([, at = '']) => at),
  )
}

/** An event of the provider before it is signed. */
export function eventOf(
  { split, type, deduplicate, unwrap, unwraps }: Preset,
  scheme: Scheme,
  path = '/hooks',
): Unsigned {
  const text =
    'signature' in scheme ? scheme.signed : scheme.algorithm === 'jwt' ? scheme.detached : undefined
  const signature = 'signature' in scheme ? [scheme.signature.in].flat()[0] : undefined
  const isForm = signature?.startsWith('form:') === true || /\{(?:form:|params\})/.test(text ?? '')
  const isWrapped = isForm && unwrap !== undefined
  const unsigned: Unsigned = {
    method: 'POST',
    url: ORIGIN + path,
    headers: {},
    options: NEEDS,
    split,
    ...(isForm && !isWrapped
      ? { form: { From: '+14158675309', To: '+18005551212' } }
      : { json: jsonFor(split) }),
  }
  const kid = 'signature' in scheme ? scheme.key?.jwks?.kid : undefined
  if (kid) unsigned.headers[kid.slice('header:'.length)] = 'k1'
  const wanted = placesIn(text, ...[type ?? []].flat(), ...[deduplicate ?? []].flat()).filter(
    (place) => scheme.when?.[place as Place] !== false,
  )
  for (const place of new Set(wanted)) fill(unsigned, place, isForm && !isWrapped)
  if (isWrapped) {
    unsigned.form = { [unwrap]: unwraps === 'xml' ? XML : JSON.stringify(unsigned.json) }
    delete unsigned.json
  }
  const certificate = 'signature' in scheme && scheme.key?.certificate
  if (certificate) {
    const address = certificate.at?.[0]?.replace('{region}', 'eu-west-1').replace('*', 'key')
    fill(unsigned, certificate.url.slice(1, -1), isForm, address)
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

export const make = (
  id: ProviderId,
  preset: Preset,
  path = '/hooks',
  secretName: string | readonly string[] = 'SECRET',
): InboundSource => {
  const options = {
    path,
    ...needsOf(preset),
    ...(preset.secret !== null && { secretName }),
    ...(preset.handshakes?.some(({ store }) => store) && { onHandshake: () => {} }),
  }
  return (providers[id] as (options: object) => InboundSource)(options)
}
