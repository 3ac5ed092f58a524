/** Schemes whose requests carry a JWT (RFC 7519) that is bound to them. */
import type { KeyObject } from 'node:crypto'
import { NotFetched } from '../../provider-client.ts'
import { reject } from '../../verify/checks.ts'
import type { Text } from '../preset.ts'
import type { Fetched, JwtScheme } from '../preset-schemes.ts'
import { pinnedTo } from './addresses.ts'
import { fetchingOf, type Fetching } from './certificates.ts'
import { holds, unbound } from './conditions.ts'
import { isSignedBy, keyOfJwk, parseJwt, type Jws, type JwtAlgorithm } from './jws.ts'
import { keptBySecret, publicKeyOf } from './keys.ts'
import { findAt, pathOf, valueAt, type Reading } from './request-places.ts'
import type { CompiledScheme } from './schemes.ts'
import { stringOf } from './text.ts'
import { recordVerified } from './verified.ts'

/** Clocks differ. */
const LEEWAY_SECONDS = 60
/** The age from which a key set is fetched again because of an unknown key. */
const REFETCH_MS = 60_000

export function jwtScheme(scheme: JwtScheme): CompiledScheme {
  const applies = holds(scheme.when)
  const find = findAt(scheme.in)
  const { prefix = '' } = scheme
  const isBound = unbound(scheme.binds)
  const keyFor = keyOf(scheme)
  return (given) => {
    const text = applies(given) ? find(given) : undefined
    if (text === undefined) return undefined
    const { request } = given
    return async ({ secret, toleranceSeconds, fetching }) => {
      if (!text.startsWith(prefix)) return reject(request, 'the JWT is missing')
      const jws = parseJwt(text.slice(prefix.length))
      if (!jws) return reject(request, 'the JWT cannot be read')
      const algorithm = scheme.algorithms.find((one) => one === jws.header['alg'])
      if (!algorithm) return reject(request, 'the JWT has an algorithm that is not the provider’s')
      // RFC 7515, section 4.1.11: what must be understood and is not.
      if (jws.header['crit'] !== undefined)
        return reject(request, 'the JWT has critical extensions')
      const claims = { ...jws.claims, kid: jws.header['kid'] }
      const reading: Reading = { ...given, secret, claims }
      const key = await keyFor(reading, jws, algorithm, secret, fetching)
      if (key === undefined) return reject(request, 'the key of the JWT is unknown')
      if (!isSignedBy(jws, algorithm, key)) return reject(request, 'no signature matches')
      const problem = problemOf(jws, scheme, toleranceSeconds)
      if (problem !== undefined) return reject(request, problem)
      const place = isBound(reading)
      if (place !== undefined) return reject(request, `${place} is not that of this request`)
      recordVerified(request, reading)
      return true
    }
  }
}

function problemOf(
  { claims }: Jws,
  { issuer, audience, toleranceSeconds, timeless }: JwtScheme,
  override: number | undefined,
): string | undefined {
  const now = Date.now() / 1000
  const { exp, nbf, iat, iss, aud } = claims
  for (const time of [exp, nbf, iat]) {
    if (time !== undefined && typeof time !== 'number') return 'a time of the JWT is no number'
  }
  if (typeof exp === 'number' && now > exp + LEEWAY_SECONDS) return 'the JWT has expired'
  if (typeof nbf === 'number' && now < nbf - LEEWAY_SECONDS) return 'the JWT is not valid yet'
  const tolerance = override ?? toleranceSeconds
  if (tolerance === undefined && exp === undefined && !timeless) {
    return 'the JWT does not say until when it is valid'
  }
  if (tolerance !== undefined) {
    if (typeof iat !== 'number') return 'the JWT does not say when it was made'
    if (Math.abs(now - iat) > tolerance) return 'the JWT is outside the tolerance'
  }
  if (issuer !== undefined && iss !== issuer) return 'the JWT is of another issuer'
  if (audience !== undefined && ![aud].flat().includes(audience)) return 'the JWT is for another'
  return undefined
}

type KeyFor = (
  reading: Reading,
  jws: Jws,
  algorithm: JwtAlgorithm,
  secret: string,
  fetching: Fetching,
) => Promise<string | KeyObject | undefined>

function keyOf({ algorithms, key }: JwtScheme): KeyFor {
  // The text of a public key, which anyone has, would be taken for a shared key.
  if (algorithms.includes('HS256') && (key !== 'secret' || algorithms.length > 1)) {
    throw new TypeError('HS256 is for shared keys: no other algorithm can be beside it')
  }
  if (key === 'secret') {
    const publicKey = keptBySecret((secret) => publicKeyOf(secret, {}))
    return async (_reading, _jws, algorithm, secret) =>
      algorithm === 'HS256' ? secret : publicKey(secret)
  }
  return 'jwks' in key ? fromSet(key.jwks) : fromEndpoint(key.jwk)
}

function fromSet(set: Fetched): KeyFor {
  const address = stringOf(set.url)
  const pin = pinnedTo(set)
  return async (reading, { header }, algorithm, _secret, fetching) => {
    const wanted = pin(address(reading))
    const find = async (maxAgeMs?: number) => {
      const text = await fetchingOf(fetching).text({ ...wanted, ...(maxAgeMs && { maxAgeMs }) })
      const keys = valueAt(jsonOf(text), ['keys'])
      const ofKid = (Array.isArray(keys) ? keys : []).filter(
        (one) => header['kid'] === undefined || valueAt(one, ['kid']) === header['kid'],
      )
      // A token without a key id is accepted only where it is clear which key is meant.
      return ofKid.length === 1 ? keyOfJwk(ofKid[0], algorithm) : undefined
    }
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
  return async (reading, { header }, algorithm, _secret, fetching) => {
    if (typeof header['kid'] !== 'string') return undefined
    const json = Object.fromEntries(fields.map(([name, text]) => [name, text(reading)]))
    const text = await fetchingOf(fetching).text({
      ...pin(address(reading)),
      json: JSON.stringify(json),
    })
    const jwk = valueAt(jsonOf(text), path)
    const expired = valueAt(jwk, ['expired_at'])
    return typeof expired === 'number' && expired < Date.now() / 1000
      ? undefined
      : keyOfJwk(jwk, algorithm)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NotFetched('what was fetched is not JSON')
  }
}
