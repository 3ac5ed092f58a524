import { randomUUID } from 'node:crypto'
import { needsPublicKey } from '../engine/algorithms.ts'
import type { Place, Preset } from '../preset.ts'
import type { Scheme } from '../preset-schemes.ts'
import { samples } from '../samples/all.ts'
import type { Sample } from '../samples/sample.ts'
import { presets, type ProviderId } from '../presets/all.ts'
import { Draft } from './draft.ts'
import { signDraft } from './sign-draft.ts'

/** The key or secret with which a provider signs a request. */
export interface SigningOptions {
  /** The secret that the host has under `secretName`. */
  secret?: string
  /**
   * The private key of a provider that signs with a key pair, in PEM. The host has the public one.
   */
  privateKey?: string
  /** Where the request goes; whole for providers that sign the URL. */
  url?: string
  /** The type of the sample that is sent, or whose headers the body gets. @default the first */
  type?: string
  /** Headers that replace those of the provider. */
  headers?: Record<string, string>
  /** When it is signed. @default now */
  at?: Date
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

const FORM = 'application/x-www-form-urlencoded'

/**
 * A request as the provider would send and sign it. Without a body it is a sample of the provider; an
 * object is written as JSON, or as a form where the provider sends forms.
 *
 * @throws Error where there is no such provider, an option is missing, or a test cannot sign for it
 * @example
 * await app.inject({ url: '/hooks/github', ...signedRequest('github', { ref: 'main' }, { secret }) })
 */
export function signedRequest(
  provider: string,
  body?: unknown,
  options: SigningOptions = {},
): SignedRequest {
  if (!Object.hasOwn(presets, provider)) {
    throw new Error(
      `signed: there is no preset "${provider}": providers.list() of @svc/webhooks/providers has their names`,
    )
  }
  const id = provider as ProviderId
  const preset: Preset = presets[id]
  const draft = draftOf(sampleOf(preset, samples[id], options), body, options)
  const scheme = schemeFor(preset, draft, options)
  assertGiven(preset, scheme, options)
  for (const [place, wanted] of Object.entries(scheme.when ?? {}) as [Place, unknown][]) {
    const text = Array.isArray(wanted) ? wanted[0] : wanted
    if (typeof text === 'string') draft.put(place, text)
  }
  fillHeaders(draft, preset, scheme, options)
  signDraft(draft, scheme, preset.split ?? '', {
    secret: options.secret ?? '',
    privateKey: options.privateKey,
    username: options['username'] as string | undefined,
    at: options.at ?? new Date(),
  })
  const path = options.url === undefined && draft.path === '/' ? {} : { url: draft.path }
  return { method: 'POST', ...path, headers: draft.headers, payload: draft.body }
}

function sampleOf({ name }: Preset, all: readonly Sample[], { type }: SigningOptions) {
  if (type === undefined) return all[0]
  const sample = all.find((one) => one.type === type)
  if (sample) return sample
  const types = all.map((one) => one.type).join(', ')
  throw new Error(
    `signed: there is no sample "${type}" of ${name}: there are ${types}. For another type give a body, and its headers`,
  )
}

function draftOf(
  sample: Sample | undefined,
  body: unknown,
  { url = '/', headers = {}, ...options }: SigningOptions,
): Draft {
  const contentType = sample?.contentType ?? 'application/json'
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const all = { 'content-type': contentType, ...sample?.headers, ...own }
  const content = body === undefined ? sample?.body : body
  const text = textOf(content, all['content-type'].startsWith(FORM))
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
  preset: Preset,
  draft: Draft,
  { secret = '', privateKey }: SigningOptions,
): Scheme {
  const begins = preset.schemes.flatMap(({ secretBegins }) => secretBegins ?? [])
  const possible = preset.schemes.filter((scheme) => !isFetched(scheme))
  const fits = (scheme: Scheme) => {
    const { secretBegins, binds = [] } = scheme
    if (signsFields(scheme) && !draft.isForm) return false
    const isForSecret =
      secretBegins === undefined
        ? !begins.some((begin) => secret.startsWith(begin))
        : secret.startsWith(secretBegins)
    return isForSecret && !(draft.isForm && binds.some((bind) => bind.in.startsWith('query:')))
  }
  const candidates = possible.filter(fits)
  const found =
    candidates.find((scheme) => hasKeyPair(scheme) === (privateKey !== undefined)) ??
    possible.find((scheme) => privateKey !== undefined && hasKeyPair(scheme)) ??
    candidates[0]
  if (found) return found
  throw new Error(
    possible.length === 0
      ? `signed: ${preset.name} has keys of its own, which a host fetches from it: a test cannot sign for it. Give its source a verify of the test's own`
      : `signed: the secret is none of ${preset.name}: it is ${preset.secret}`,
  )
}

const signsFields = (scheme: Scheme): boolean =>
  'signature' in scheme && /\{params\}|\{form:/.test(scheme.signed ?? '')

/** Whether the key comes from the provider while a request is verified. */
const isFetched = (scheme: Scheme): boolean =>
  scheme.algorithm === 'jwt'
    ? scheme.key !== 'secret'
    : 'signature' in scheme && scheme.key?.certificate !== undefined

const hasKeyPair = (scheme: Scheme): boolean =>
  scheme.algorithm === 'jwt'
    ? !scheme.algorithms.includes('HS256')
    : 'signature' in scheme && needsPublicKey(scheme.algorithm)

function assertGiven(
  { name, secret, needs = [] }: Preset,
  scheme: Scheme,
  options: SigningOptions,
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

/** A UUID, and what else a provider may have as an id: at least 16 letters and digits, one a digit. */
const ID = /^(?=.*\d)(?:[A-Za-z]{2,5}_)?[A-Za-z0-9-]{16,}$/

/**
 * Each request gets new ids in its headers. Where the body alone is signed, a repeat is recognised by
 * that: a test that sends two events gives two bodies.
 */
function fillHeaders(
  draft: Draft,
  { deduplicate }: Preset,
  scheme: Scheme,
  { headers = {} }: SigningOptions,
): void {
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  for (const [name, value] of Object.entries(draft.headers)) {
    if (!own.has(name) && ID.test(value)) draft.headers[name] = randomUUID()
  }
  for (const name of headersIn([deduplicate ?? []].flat())) draft.headers[name] ??= randomUUID()
  const signed = 'signed' in scheme ? [scheme.signed ?? ''] : []
  for (const name of headersIn(signed)) draft.headers[name] ??= randomUUID()
}

const headersIn = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => [...text.matchAll(/\{header:([^{}|]+)\}/g)].map(([, name = '']) => name))
