/** The handshakes of a row: requests that expect an answer instead of being an event. */
import { Buffer } from 'node:buffer'
import { HandshakeRefused, ProviderAway } from '../errors.ts'
import type { Answer, Handshake } from '../preset.ts'
import { clientOf, pinnedTo, type ProviderClient } from '../provider-client.ts'
import { equalBytes } from './algorithms.ts'
import { holds } from './conditions.ts'
import { findAt, type Reading } from './places.ts'
import { stringOf } from './text.ts'

/** A reply as a host sends it. */
export interface Reply {
  statusCode: number
  headers?: Record<string, string>
  /** A string is sent as `text/plain`, anything else as JSON. @default no body */
  body?: unknown
}

/** What a handshake needs of a host. Secrets are asked for before the first `await`. */
export interface HandshakeHost {
  /** The secret with which an answer is signed, where the request is not. */
  secret: () => string | undefined
  /** The secret that the request must show. */
  verifyToken: () => string
  /** Keeps the secret that the provider sends, or refuses it. @default it is refused */
  store?: ((secret: string) => boolean | void | Promise<boolean | void>) | undefined
  client: ProviderClient | undefined
}

/** When a handshake is answered: a POST that is not signed is before the verification. */
export type Stage = 'unverified' | 'verified'

export const stageOf = ({ method, signed }: Handshake): Stage =>
  method === 'POST' && signed === false ? 'unverified' : 'verified'

/**
 * The reply to a handshake; `null` if the request is not a handshake.
 *
 * @throws HandshakeRefused, NotFetched or ProviderAway
 */
export type Respond = (reading: Reading, host: HandshakeHost) => Promise<Reply> | null

/** `undefined` where no handshake is answered at that stage. */
export function responderOf(
  handshakes: readonly Handshake[] = [],
  stage: Stage,
): Respond | undefined {
  const compiled = handshakes.filter((one) => stageOf(one) === stage).map(compile)
  if (compiled.length === 0) return undefined
  return (reading, host) =>
    compiled.find(({ applies }) => applies(reading))?.answer(reading, host) ?? null
}

interface Compiled {
  applies: (reading: Reading) => boolean
  answer: (reading: Reading, host: HandshakeHost) => Promise<Reply>
}

function compile(handshake: Handshake): Compiled {
  const when = holds(handshake.when)
  const findDigits = handshake.digits && findAt(handshake.digits)
  const reply = replyOf(handshake.answer)
  const findToken = handshake.verifyToken && findAt(handshake.verifyToken)
  const keep = keeper(handshake)
  const confirm = confirmer(handshake)
  const isKeyed = JSON.stringify(handshake.answer).includes('{hmac-')
  return {
    applies: (reading) => reading.sent.request.method === handshake.method && when(reading),
    answer: async (reading, host) => {
      if (findToken && !isEqual(findToken(reading), host.verifyToken())) {
        throw new HandshakeRefused('the verify token does not match')
      }
      if (findDigits && !/^[0-9a-f]{20,32}$/.test(findDigits(reading) ?? '')) {
        throw new HandshakeRefused('the challenge is none of the provider')
      }
      // While a secret follows another, the sender compares with the one that it signs with.
      const secret = isKeyed ? (reading.secret ?? host.secret()) : undefined
      const given = secret === undefined ? reading : { ...reading, secret }
      await keep?.(given, host)
      await confirm?.(given, host)
      const answer = reply(given)
      if (answer) return answer
      throw new HandshakeRefused('the handshake lacks what it asks to be answered')
    },
  }
}

const isEqual = (given: string | undefined, expected: string): boolean =>
  given !== undefined && equalBytes(Buffer.from(given), Buffer.from(expected))

function keeper({ store: place }: Handshake) {
  const find = place && findAt(place)
  return (
    find &&
    (async (reading: Reading, { store }: HandshakeHost): Promise<void> => {
      const value = find(reading)
      if (value === undefined || value === '') {
        throw new HandshakeRefused('the handshake holds no secret')
      }
      if (!store) {
        throw new HandshakeRefused('there is no onHandshake, which would keep the secret')
      }
      if ((await store(value)) === false) {
        throw new HandshakeRefused('onHandshake has refused it')
      }
    })
  )
}

function confirmer({ confirm: wanted }: Handshake) {
  if (!wanted) return undefined
  const pin = pinnedTo(wanted)
  const address = stringOf(wanted.url)
  return async (reading: Reading, { client }: HandshakeHost): Promise<void> => {
    const isConfirmed = await clientOf(client).visit(pin(address(reading)))
    // The sender repeats it.
    if (!isConfirmed) throw new ProviderAway('the provider did not accept the confirmation')
  }
}

/** Builds a reply; `undefined` where a value of it is absent. */
export function replyOf(answer: Answer): (reading: Reading) => Reply | undefined {
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
