/** Schemes whose requests carry a JWT (RFC 7519) that is bound to them. */
import { Buffer } from 'node:buffer'
import type { KeyObject } from 'node:crypto'
import type {
  createLocalJWKSet,
  CryptoKey,
  JSONWebKeySet,
  JWK,
  JWTPayload,
  ProtectedHeaderParameters,
} from 'jose'
import type { Text } from '../preset.ts'
import type { Fetched, JwtScheme, KeySet } from '../preset-schemes.ts'
import { clientOf, pinnedTo, type ProviderClient } from '../provider-client.ts'
import { decoded } from './algorithms.ts'
import { holds, unbound } from './conditions.ts'
import { keySetText, parsed as parsedJson } from './key-sets.ts'
import { keptBySecret, publicKeyOf } from './keys.ts'
import { findAt, pathOf, valueAt, type Reading } from './places.ts'
import { chunksOf, stringOf } from './text.ts'
import { millisecondsOf } from './timestamps.ts'
import type { FindCheck } from './verify.ts'
import { x5cKey } from './x5c.ts'

/** Clocks differ. */
const LEEWAY_SECONDS = 60

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
  const whole = scheme.detached === undefined ? undefined : attaching(scheme.detached)
  const timeOf = timeIn(scheme.time)
  return (given) => {
    const text = applies(given) ? find(given) : undefined
    if (text === undefined) return undefined
    const { sent } = given
    return async ({ value: secret }, client) => {
      if (!text.startsWith(prefix)) return sent.reject('the JWT is missing')
      const at = { ...given, secret }
      const timestamp = scheme.time && findAt(scheme.time.in)(at)
      const attached = whole?.({ ...at, timestamp }, text.slice(prefix.length))
      if (whole && attached === undefined) return sent.reject('the JWT cannot be read')
      const token = attached ?? text.slice(prefix.length)
      const jwt = await parsed(token, whole !== undefined)
      if (!jwt) return sent.reject('the JWT cannot be read')
      const { header, claims, claimsText } = jwt
      if (!algorithms.some((one) => one === header.alg)) {
        return sent.reject('the JWT has an algorithm that is not the provider’s')
      }
      // RFC 7515, section 4.1.11: what must be understood and is not.
      if (header.crit !== undefined) return sent.reject('the JWT has critical extensions')
      const reading: Reading = { ...given, secret, claims }
      const madeMs = timeOf(reading)
      const key = await keyFor(reading, header, secret, client, madeMs)
      if (key === undefined) return sent.reject('the key of the JWT is unknown')
      const { compactVerify, jwtVerify } = await loadJose()
      try {
        // A text that is signed need not be claims.
        if (whole) await compactVerify(token, key, { algorithms: [...algorithms] })
        else
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
      const problem = problemOf(claims, madeMs, toleranceSeconds, scheme.timeless)
      if (problem !== undefined) return sent.reject(problem)
      const place = isBound(reading)
      if (place !== undefined) return sent.reject(`${place} is not that of this request`)
      sent.verified = { claims, claimsText }
      return true
    }
  }
}

/** Puts what is signed into a JWT that does not hold it; `undefined` where it is not that. */
function attaching(detached: Text): (reading: Reading, text: string) => string | undefined {
  const chunks = chunksOf(detached)
  return (reading, text) => {
    const signed = chunks(reading)
    const [header, payload, signature, ...others] = text.split('.')
    if (signed === undefined || payload !== '' || others.length > 0) return undefined
    const bytes = Buffer.concat(signed.map((chunk) => Buffer.from(chunk as string)))
    return `${header}.${bytes.toString('base64url')}.${signature}`
  }
}

/** When a JWT was made, in milliseconds since 1970. */
function timeIn(time: JwtScheme['time']): (reading: Reading) => number | undefined {
  if (!time)
    return ({ claims }) => (typeof claims?.['iat'] === 'number' ? claims['iat'] * 1000 : undefined)
  const find = findAt(time.in)
  return (reading) => {
    const text = find(reading)
    return text === undefined ? undefined : millisecondsOf(text, time.unit)
  }
}

interface Jwt {
  header: ProtectedHeaderParameters
  /** The id of the key is among them. */
  claims: JWTPayload
  claimsText?: string
}

/**
 * A JWT before it is verified. Its text must be canonical: a signature that is spelled in another way is
 * another request.
 */
async function parsed(token: string, isDetached: boolean): Promise<Jwt | undefined> {
  if (!token.split('.').every((part) => decoded(part, 'base64url') !== undefined)) return undefined
  const { decodeJwt, decodeProtectedHeader } = await loadJose()
  try {
    const header = decodeProtectedHeader(token)
    if (isDetached) return { header, claims: { kid: header.kid } }
    const claimsText = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
    return { header, claims: { ...decodeJwt(token), kid: header.kid }, claimsText }
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
  { exp }: JWTPayload,
  madeMs: number | undefined,
  toleranceSeconds: number | undefined,
  timeless = false,
): string | undefined {
  if (toleranceSeconds === undefined) {
    return exp === undefined && !timeless
      ? 'the JWT does not say until when it is valid'
      : undefined
  }
  if (madeMs === undefined) return 'the JWT does not say when it was made'
  const isTimely = Math.abs(Date.now() - madeMs) <= toleranceSeconds * 1000
  return isTimely ? undefined : 'the JWT is outside the tolerance'
}

type Key = JWK | CryptoKey | Uint8Array

/** For jose: the key objects of Cloudflare's workers are none of Web Crypto. */
const asJwk = (key: KeyObject): JWK => key.export({ format: 'jwk' })

/** The key of a JWT; `undefined` if the key set has no key for it. @throws NotFetched or ProviderAway */
type KeyFor = (
  reading: Reading,
  header: ProtectedHeaderParameters,
  secret: string,
  client: ProviderClient | undefined,
  madeMs: number | undefined,
) => Key | undefined | Promise<Key | undefined>

function keyOf({ algorithms, key }: JwtScheme): KeyFor {
  // The text of a public key, which anyone has, would be taken for a shared key.
  if (algorithms.includes('HS256') && (key !== 'secret' || algorithms.length > 1)) {
    throw new TypeError('HS256 is for shared keys: no other algorithm can be beside it')
  }
  if (key === 'secret') {
    const publicKey = keptBySecret((secret) => asJwk(publicKeyOf(secret, {})))
    return (_reading, { alg }, secret) =>
      alg === 'HS256' ? Buffer.from(secret) : publicKey(secret)
  }
  if ('x5c' in key) {
    const keyIn = x5cKey(key.x5c)
    return (_reading, { x5c }, _secret, _client, madeMs) => {
      const key = keyIn(x5c, madeMs)
      return key && asJwk(key)
    }
  }
  return 'jwks' in key ? fromSet(key.jwks) : fromEndpoint(key.jwk)
}

function fromSet(set: KeySet): KeyFor {
  const address = stringOf(set.url)
  const pin = pinnedTo(set)
  const chosen = keyChooser((json) => json)
  const kidIn = set.kid === undefined ? undefined : findAt(set.kid)
  return async (reading, own, _secret, client) => {
    const wanted = pin(address(reading))
    const kid = kidIn?.(reading)
    if (kidIn && kid === undefined) return undefined
    const header = kid === undefined ? own : { ...own, kid }
    const find = async (isAnew: boolean) => chosen(await keySetText(client, wanted, isAnew), header)
    return (await find(false)) ?? (await find(true))
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
    const answer = await clientOf(client).text({
      ...pin(address(reading)),
      json: JSON.stringify(json),
      isRight: (body) => valueAt(parsedJson(body), path) !== undefined,
    })
    const expired = valueAt(parsedJson(answer), [...path, 'expired_at'])
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
        const set = setIn(parsedJson(answer)) as JSONWebKeySet
        known = { answer, choose: createLocalJWKSet(set) }
      }
      return await known.choose(header)
    } catch {
      return undefined
    }
  }
}
