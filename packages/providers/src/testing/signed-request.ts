import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { needsPublicKey } from '../engine/algorithms.ts'
import { findAt } from '../engine/places.ts'
import { chosen, type RowOptions } from '../engine/chosen.ts'
import type { Place, Preset } from '../preset.ts'
import type { Scheme } from '../preset-schemes.ts'
import { presets } from '../presets/all.ts'
import { Draft } from './draft.ts'
import { madeUp, sendsForms } from './made-up.ts'
import { signDraft } from './sign-draft.ts'

/** What a provider signs a request with. */
export interface SignedOptions {
  /** The secret that the host has. */
  secret?: string | undefined
  /**
   * The private key of a provider that signs with a key pair, in PEM. The host has the public one.
   */
  privateKey?: string | undefined
  /**
   * Where the request goes. Providers that sign the URL need it whole, with the `publicOrigin` of the
   * host: `https://example.com/hooks/square`.
   */
  url?: string | undefined
  /** The type of the event, as the provider writes it: `push`. @default one of the provider, or `event` */
  type?: string | undefined
  /** Headers that replace those of the provider. */
  headers?: Record<string, string> | undefined
  /** When it is signed. @default now */
  at?: Date | undefined
  /** What the preset needs besides, under the name that it has there. */
  [need: string]: unknown
}

/** A request for `app.inject`. */
export interface SignedRequest {
  method: 'POST'
  /** Path and query, where `url` was given or has become longer. */
  url?: string
  headers: Record<string, string>
  payload: string
}

/** What is read of a row to sign for it. */
export type SignableRow = Pick<Preset, 'name' | 'secret' | 'schemes'> & Partial<Preset>

const FORM = 'application/x-www-form-urlencoded'

/**
 * A request as the provider would send and sign it, for `app.inject`. Without a body it has what is read
 * of the provider's: a type, and an id. An object is written as JSON, or as a form where the provider
 * sends forms.
 *
 * @param provider the name of one of `providers`, such as `github`
 * @throws Error where there is no such provider, an option is missing, or a test cannot sign for it
 * @example
 * await app.inject({ url: '/hooks/github', ...signed('github', { ref: 'main' }, { secret }) })
 */
export function signed(
  provider: string,
  body?: unknown,
  options: SignedOptions = {},
): SignedRequest {
  if (!Object.hasOwn(presets, provider)) {
    throw new Error(
      `signed: there is no preset "${provider}": providers.list() of @svc/providers has their names`,
    )
  }
  return signedBy(presets[provider as keyof typeof presets], body, options)
}

/** The same of a row that is no preset. */
export function signedBy(
  row: SignableRow,
  body?: unknown,
  options: SignedOptions = {},
): SignedRequest {
  assertSignable(row)
  const preset = chosen(row, options as RowOptions)
  const draft = draftOf(preset, body, options)
  const scheme = schemeFor(preset, draft, options)
  assertGiven(preset, scheme, options)
  for (const [place, wanted] of Object.entries(scheme.when ?? {}) as [Place, unknown][]) {
    const text = Array.isArray(wanted) ? wanted[0] : wanted
    if (typeof text === 'string') draft.put(place, text)
  }
  fillHeaders(draft, preset, scheme)
  signDraft(draft, scheme, preset.split ?? '', {
    secret: options.secret ?? '',
    privateKey: options.privateKey,
    username: options['username'] as string | undefined,
    at: options.at ?? new Date(),
  })
  const path = options.url === undefined && draft.path === '/' ? {} : { url: draft.path }
  return { method: 'POST', ...path, headers: draft.headers, payload: draft.body }
}

function draftOf(
  preset: SignableRow,
  body: unknown,
  { url = '/', headers = {}, type, ...options }: SignedOptions,
): Draft {
  const made = madeUp(preset, type)
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const contentType = sendsForms(preset) ? FORM : 'application/json'
  const all = { 'content-type': contentType, ...made.headers, ...own }
  const text = textOf(body === undefined ? made.body : body, all['content-type'].startsWith(FORM))
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => typeof value === 'string'),
  ) as Record<string, string>
  return new Draft(all, text, url, given)
}

function textOf(body: unknown, isForm: boolean): string {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  return isForm
    ? new URLSearchParams(body as Record<string, string>).toString()
    : JSON.stringify(body ?? {})
}

/** The first that a test can sign for, and that fits the secret and the kind of the body. */
function schemeFor(
  preset: SignableRow,
  draft: Draft,
  { secret = '', privateKey }: SignedOptions,
): Scheme {
  const begins = preset.schemes.flatMap(({ secretBegins }) => secretBegins ?? [])
  const has = (place: string) => findAt(place as Place)(draft.reading()) !== undefined
  const possible = preset.schemes.filter((scheme) => !isFetched(scheme))
  const fits = (scheme: Scheme) => {
    const { secretBegins, binds = [], when = {} } = scheme
    if (Object.keys(when).some((place) => place.startsWith('option:') && !has(place))) return false
    if (signsFields(scheme) && !draft.isForm) return false
    const isForSecret =
      secretBegins === undefined
        ? !begins.some((begin) => secret.startsWith(begin))
        : secret.startsWith(secretBegins)
    return (
      isForSecret &&
      !(
        draft.isForm &&
        binds.some((bind) => [bind.in].flat().some((one) => one.startsWith('query:')))
      )
    )
  }
  const candidates = possible.filter(fits)
  const found =
    candidates.find((scheme) => hasKeyPair(scheme) === (privateKey !== undefined)) ??
    possible.find((scheme) => privateKey !== undefined && hasKeyPair(scheme)) ??
    candidates[0]
  if (found) return found
  throw new Error(`signed: the secret is none of ${preset.name}: it is ${preset.secret}`)
}

function assertSignable({ name, schemes }: SignableRow): void {
  if (!schemes.every(isFetched)) return
  throw new Error(
    `signed: ${name} has keys of its own, which a host fetches from it: a test cannot sign for it. Give its source a verify of the test's own`,
  )
}

const signsFields = (scheme: Scheme): boolean =>
  'signature' in scheme && /\{params\}|\{form:/.test(scheme.signed ?? '')

/** Whether the key comes from the provider while a request is verified. */
const isFetched = (scheme: Scheme): boolean =>
  scheme.algorithm === 'jwt'
    ? scheme.key !== 'secret'
    : 'signature' in scheme && (scheme.key?.certificate ?? scheme.key?.jwks) !== undefined

const hasKeyPair = (scheme: Scheme): boolean =>
  scheme.algorithm === 'jwt'
    ? !scheme.algorithms.includes('HS256')
    : 'signature' in scheme && needsPublicKey(scheme.algorithm)

function assertGiven(
  { name, secret, needs = [] }: SignableRow,
  scheme: Scheme,
  options: SignedOptions,
) {
  if (hasKeyPair(scheme)) {
    if (options.privateKey === undefined) {
      throw new Error(
        `signed: ${name} signs with a key pair: give the option privateKey (PEM), and the host its public key`,
      )
    }
  } else if (!options.secret) {
    throw new Error(`signed: ${name} signs with a secret: give the option secret (${secret})`)
  }
  if (scheme.algorithm === 'basic' && !options['username']) {
    throw new Error(`signed: give the option username, as the source of ${name} has it`)
  }
  if (signsUrl(scheme) && !options.url?.startsWith('http')) {
    throw new Error(
      `signed: ${name} signs the URL: give the option url, whole (https://example.com/hooks/…)`,
    )
  }
  for (const need of needs) {
    const isUsed = JSON.stringify(scheme).includes(`option:${need}`)
    if (isUsed && typeof options[need] !== 'string') {
      throw new Error(`signed: give the option ${need}, as the source of ${name} has it`)
    }
  }
}

const signsUrl = (scheme: Scheme): boolean =>
  ('signed' in scheme && scheme.signed?.includes('{url}') === true) ||
  (scheme.binds ?? []).some(({ of = '' }) => /^\{(?:url\}|query:)/.test(of))

/**
 * Each request gets new ids in its headers. Where the body alone is signed, a repeat is recognised by
 * that: a test that sends two events gives two bodies.
 */
function fillHeaders(draft: Draft, { deduplicate, id }: SignableRow, scheme: Scheme): void {
  const signedText = 'signed' in scheme ? (scheme.signed ?? []) : []
  for (const text of [deduplicate ?? [], id ?? [], signedText].flat(2)) {
    for (const [, name = ''] of text.matchAll(/\{header:([^{}|]+)\}/g)) {
      draft.headers[name] ??= randomUUID()
    }
  }
}
