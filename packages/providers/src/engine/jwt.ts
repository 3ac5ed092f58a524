/** Schemes whose requests carry a JWT (RFC 7519) that is bound to them. */
import { Buffer } from 'node:buffer'
import type { KeyObject } from 'node:crypto'
import type {
  createLocalJWKSet,
  CryptoKey,
  JSONWebKeySet,
  JWTPayload,
  ProtectedHeaderParameters,
} from 'jose'
import { NotFetched } from '../errors.ts'
import type { Text } from '../preset.ts'
import type { Fetched, JwtScheme } from '../preset-schemes.ts'
import { clientOf, pinnedTo, type ProviderClient } from '../provider-client.ts'
import { decoded } from './algorithms.ts'
import { holds, unbound } from './conditions.ts'
import { keptBySecret, publicKeyOf } from './keys.ts'
import { findAt, pathOf, valueAt, type Reading } from './places.ts'
import { stringOf } from './text.ts'
import type { FindCheck } from './verify.ts'

/** Clocks differ. */
const LEEWAY_SECONDS = 60
/** The age from which a key set is fetched again because of an unknown key. */
const REFETCH_MS = 60_000

/** Loaded with the first JWT: most hosts receive none. */
const loadJose = () => import('jose')

/** @param override a tolerance instead of that of the scheme */
export function jwtScheme(scheme: JwtScheme, override?: number): FindCheck {
  const applies = holds(scheme.when)
  const find = findAt(scheme.in)
  const { prefix = '', algorithms, issuer, audience } = scheme
  const toleranceSeconds = override ?? scheme.toleranceSeconds
  const isBound = unbound(scheme.binds)
  const keyFor = keyOf(scheme)
  return (given) => {
    const text = applies(given) ? find(given) : undefined
    if (text === undefined) return undefined
    const { sent } = given
    return async ({ value: secret }, client) => {
      if (!text.startsWith(prefix)) return sent.reject('the JWT is missing')
      const token = text.slice(prefix.length)
      const jwt = await parsed(token)
      if (!jwt) return sent.reject('the JWT cannot be read')
      const { header, claims } = jwt
      if (!algorithms.some((one) => one === header.alg)) {
        return sent.reject('the JWT has an algorithm that is not the provider’s')
      }
      // RFC 7515, section 4.1.11: what must be understood and is not.
      if (header.crit !== undefined) return sent.reject('the JWT has critical extensions')
      const reading: Reading = { ...given, secret, claims }
      const key = await keyFor(reading, header, secret, client)
      if (key === undefined) return sent.reject('the key of the JWT is unknown')
      const { jwtVerify } = await loadJose()
      try {
        await jwtVerify(token, key, {
          algorithms: [...algorithms],
          clockTolerance: LEEWAY_SECONDS,
          currentDate: new Date(Date.now()),
          ...(issuer !== undefined && { issuer }),
          ...(audience !== undefined && { audience }),
        })
      } catch (error) {
        return sent.reject(await reasonOf(error))
      }
      const problem = problemOf(claims, toleranceSeconds, scheme.timeless)
      if (problem !== undefined) return sent.reject(problem)
      const place = isBound(reading)
      if (place !== undefined) return sent.reject(`${place} is not that of this request`)
      sent.verified = { claims }
      return true
    }
  }
}

interface Jwt {
  header: ProtectedHeaderParameters
  /** The id of the key is among them. */
  claims: JWTPayload
}

/**
 * A JWT before it is verified. Its text must be canonical: a signature that is spelled in another way is
 * another request.
 */
async function parsed(token: string): Promise<Jwt | undefined> {
  if (!token.split('.').every((part) => decoded(part, 'base64url') !== undefined)) return undefined
  const { decodeJwt, decodeProtectedHeader } = await loadJose()
  try {
    const header = decodeProtectedHeader(token)
    return { header, claims: { ...decodeJwt(token), kid: header.kid } }
  } catch {
    return undefined
  }
}

/** Why jose refuses it. */
async function reasonOf(error: unknown): Promise<string> {
  const { errors } = await loadJose()
  if (error instanceof errors.JWTExpired) return 'the JWT has expired'
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'no signature matches'
  if (error.claim === 'iss') return 'the JWT is of another issuer'
  if (error.claim === 'aud') return 'the JWT is for another'
  return error.reason === 'invalid' ? 'a time of the JWT is no number' : 'the JWT is not valid yet'
}

/** What jose does not judge: how old a JWT may be either way, and whether it may be valid for ever. */
function problemOf(
  { exp, iat }: JWTPayload,
  toleranceSeconds: number | undefined,
  timeless = false,
): string | undefined {
  if (toleranceSeconds === undefined) {
    return exp === undefined && !timeless
      ? 'the JWT does not say until when it is valid'
      : undefined
  }
  if (iat === undefined) return 'the JWT does not say when it was made'
  const isTimely = Math.abs(Date.now() / 1000 - iat) <= toleranceSeconds
  return isTimely ? undefined : 'the JWT is outside the tolerance'
}

type Key = KeyObject | CryptoKey | Uint8Array

/** The key of a JWT; `undefined` if the key set has no key for it. @throws NotFetched or ProviderAway */
type KeyFor = (
  reading: Reading,
  header: ProtectedHeaderParameters,
  secret: string,
  client: ProviderClient | undefined,
) => Key | undefined | Promise<Key | undefined>

function keyOf({ algorithms, key }: JwtScheme): KeyFor {
  // The text of a public key, which anyone has, would be taken for a shared key.
  if (algorithms.includes('HS256') && (key !== 'secret' || algorithms.length > 1)) {
    throw new TypeError('HS256 is for shared keys: no other algorithm can be beside it')
  }
  if (key === 'secret') {
    const publicKey = keptBySecret((secret) => publicKeyOf(secret, {}))
    return (_reading, { alg }, secret) =>
      alg === 'HS256' ? Buffer.from(secret) : publicKey(secret)
  }
  return 'jwks' in key ? fromSet(key.jwks) : fromEndpoint(key.jwk)
}

function fromSet(set: Fetched): KeyFor {
  const address = stringOf(set.url)
  const pin = pinnedTo(set)
  const chosen = keyChooser((json) => json)
  return async (reading, header, _secret, client) => {
    const wanted = pin(address(reading))
    const find = async (maxAgeMs?: number) =>
      chosen(await clientOf(client).text({ ...wanted, ...(maxAgeMs && { maxAgeMs }) }), header)
    return (await find()) ?? (await find(REFETCH_MS))
  }
}

function fromEndpoint(
  wanted: Fetched & { json: Readonly<Record<string, Text>>; field: string },
): KeyFor {
  const address = stringOf(wanted.url)
  const fields = Object.entries(wanted.json).map(([name, text]) => [name, stringOf(text)] as const)
  const path = pathOf(wanted.field)
  const pin = pinnedTo(wanted)
  const chosen = keyChooser((json) => ({ keys: [valueAt(json, path)] }))
  return async (reading, header, _secret, client) => {
    if (header.kid === undefined) return undefined
    const json = Object.fromEntries(fields.map(([name, text]) => [name, text(reading)]))
    const body = { ...pin(address(reading)), json: JSON.stringify(json) }
    const answer = await clientOf(client).text(body)
    const expired = valueAt(jsonOf(answer), [...path, 'expired_at'])
    const isExpired = typeof expired === 'number' && expired < Date.now() / 1000
    return isExpired ? undefined : chosen(answer, header)
  }
}

/**
 * Chooses the key of a JWT from the provider's key set (RFC 7517): the key with the id of the JWT that is for
 * its algorithm and for signatures. A JWT without an id has a key only if a single key of the set fits.
 */
function keyChooser(setIn: (json: unknown) => unknown) {
  // The keys of an answer are imported once, while it is kept.
  let known: { answer: string; choose: ReturnType<typeof createLocalJWKSet> } | undefined
  return async (answer: string, header: ProtectedHeaderParameters): Promise<Key | undefined> => {
    const { createLocalJWKSet } = await loadJose()
    try {
      if (known?.answer !== answer) {
        const set = setIn(jsonOf(answer)) as JSONWebKeySet
        known = { answer, choose: createLocalJWKSet(set) }
      }
      return await known.choose(header)
    } catch (error) {
      if (error instanceof NotFetched) throw error
      return undefined
    }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NotFetched('what was fetched is not JSON')
  }
}
