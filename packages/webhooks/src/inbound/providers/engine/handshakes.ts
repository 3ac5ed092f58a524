/** The handshakes of a row, as functions of a source. */
import { NotVerified, SecretMissing } from '../../errors.ts'
import type { ProviderClient } from '../../provider-client.ts'
import type { InboundReply, InboundRequest, Respond, SecretLookup } from '../../source.ts'
import { equalBytes } from '../../verify/checks.ts'
import { namesOf, type SecretName } from '../../verify/secret-names.ts'
import type { Answer, Handshake } from '../preset.ts'
import { pinnedTo } from './addresses.ts'
import { fetchingOf } from './certificates.ts'
import { holds } from './conditions.ts'
import { findAt, type Reading } from './request-places.ts'
import { stringOf } from './text.ts'

export interface HandshakeSettings {
  secretName: SecretName | null
  verifyTokenSecretName: string | undefined
  onHandshake: OnHandshake | undefined
  readingOf: (request: InboundRequest, body: string) => Reading
}

/**
 * Keeps the secret that a provider sends with its first request, which is not signed: anyone may
 * send it. `false` refuses it, for instance where no webhook is being set up.
 */
export type OnHandshake = (
  secret: string,
  request: InboundRequest,
) => boolean | void | Promise<boolean | void>

/**
 * The field of the source that answers a handshake: a POST that is not signed is answered before the
 * verification, all others after it.
 */
export const answererOf = ({ method, signed }: Handshake): 'respond' | 'respondUnverified' =>
  method === 'POST' && signed === false ? 'respondUnverified' : 'respond'

export function respondTo(
  handshakes: readonly Handshake[],
  settings: HandshakeSettings,
): { respond?: Respond; respondUnverified?: Respond } {
  const first = handshakes.filter((one) => answererOf(one) === 'respondUnverified')
  const later = handshakes.filter((one) => answererOf(one) === 'respond')
  return {
    ...(later.length > 0 && { respond: responder(later, settings) }),
    ...(first.length > 0 && { respondUnverified: responder(first, settings) }),
  }
}

function responder(handshakes: readonly Handshake[], settings: HandshakeSettings): Respond {
  const compiled = handshakes.map((one) => compile(one, settings))
  return async (request, body, secret, providerClient) => {
    const reading = settings.readingOf(request, body)
    for (const { applies, answer } of compiled) {
      // Secrets are read before the first `await`: see SecretLookup.
      if (applies(reading)) return answer(reading, secret, providerClient)
    }
    return null
  }
}

interface Compiled {
  applies: (reading: Reading) => boolean
  answer: (
    reading: Reading,
    secret: SecretLookup,
    providerClient: ProviderClient | undefined,
  ) => Promise<InboundReply>
}

function compile(handshake: Handshake, settings: HandshakeSettings): Compiled {
  const when = holds(handshake.when)
  const reply = replyOf(handshake.answer)
  const isAllowed = tokenCheck(handshake, settings)
  const keyed = usesSecret(handshake.answer)
  return {
    applies: (reading) => reading.request.method === handshake.method && when(reading),
    answer: async (reading, secret, providerClient) => {
      if (!isAllowed(reading, secret)) throw refused('the verify token does not match')
      const value = keyed ? firstSecret(settings.secretName, reading.request, secret) : undefined
      const given = value === undefined ? reading : { ...reading, secret: value }
      await store(handshake, settings, given)
      await confirm(handshake, given, providerClient)
      const answer = reply(given)
      if (!answer) throw refused('the handshake lacks what it asks to be answered')
      return answer
    },
  }
}

const refused = (reason: string): Error => new NotVerified({ cause: reason })

function tokenCheck({ verifyToken }: Handshake, { verifyTokenSecretName }: HandshakeSettings) {
  if (verifyToken === undefined) return () => true
  const find = findAt(verifyToken)
  return (reading: Reading, secret: SecretLookup): boolean => {
    const name = verifyTokenSecretName ?? ''
    const expected = secret(name)
    if (expected === null) throw new SecretMissing(name)
    const given = find(reading)
    return given !== undefined && equalBytes(Buffer.from(given), Buffer.from(expected))
  }
}

function firstSecret(
  secretName: SecretName | null,
  request: InboundRequest,
  secret: SecretLookup,
): string | undefined {
  const values = secretName === null ? [] : namesOf(secretName, request).map((name) => secret(name))
  return values.find((value) => value !== null) ?? undefined
}

async function store(
  { store: place }: Handshake,
  { onHandshake }: HandshakeSettings,
  reading: Reading,
): Promise<void> {
  if (place === undefined) return
  const value = findAt(place)(reading)
  if (value === undefined || value === '') throw refused('the handshake holds no secret')
  if (!onHandshake) throw refused('the source has no onHandshake, which would keep the secret')
  if ((await onHandshake(value, reading.request)) === false) {
    throw refused('onHandshake has refused it')
  }
}

async function confirm(
  { confirm: wanted }: Handshake,
  reading: Reading,
  providerClient: ProviderClient | undefined,
): Promise<void> {
  if (!wanted) return
  const pinned = pinnedTo(wanted)(stringOf(wanted.url)(reading))
  const isConfirmed = await fetchingOf(providerClient).visit(pinned)
  // The sender repeats it after a 500.
  if (!isConfirmed) throw new Error('the provider did not accept the confirmation')
}

const usesSecret = (answer: Answer): boolean => JSON.stringify(answer).includes('{hmac-')

/** Builds the reply; `undefined` where a value of it is absent. */
export function replyOf(answer: Answer): (reading: Reading) => InboundReply | undefined {
  const headers = textsOf(answer.headers)
  const json = textsOf(answer.json)
  const text = answer.text === undefined ? undefined : stringOf(answer.text)
  return (reading) => {
    const body = text ? text(reading) : json && built(json, reading)
    const lines = headers && built(headers, reading)
    if ((text ?? json) !== undefined && body === undefined) return undefined
    if (headers && !lines) return undefined
    return {
      statusCode: answer.status ?? 200,
      ...(lines && { headers: lines as Record<string, string> }),
      ...(body !== undefined && { body }),
    }
  }
}

type Texts = [name: string, text: number | ((reading: Reading) => string | undefined)][]

const textsOf = (fields: Readonly<Record<string, string | number>> | undefined) =>
  fields &&
  Object.entries(fields).map(([name, text]): Texts[number] => [
    name,
    typeof text === 'number' ? text : stringOf(text),
  ])

function built(texts: Texts, reading: Reading): Record<string, string | number> | undefined {
  const entries = texts.map(([name, text]) => [
    name,
    typeof text === 'number' ? text : text(reading),
  ])
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries)
}
