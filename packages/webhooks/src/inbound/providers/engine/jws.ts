/** Compact JWS (RFC 7515) with pinned algorithms, using only node:crypto. */
import {
  createHmac,
  createPublicKey,
  timingSafeEqual,
  verify,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'
import type { JwtScheme } from '../preset-schemes.ts'
import { decoded, isWeakRsa } from './algorithms.ts'

export type JwtAlgorithm = JwtScheme['algorithms'][number]

export interface Jws {
  header: Readonly<Record<string, unknown>>
  claims: Readonly<Record<string, unknown>>
  signed: Buffer
  signature: Buffer
}

/** `undefined` where the text is no JWT. */
export function parseJwt(text: string): Jws | undefined {
  const [head, body, signature, ...others] = text.split('.')
  if (!head || !body || !signature || others.length > 0) return undefined
  const header = objectOf(head)
  const claims = objectOf(body)
  const bytes = decoded(signature, 'base64url')
  if (!header || !claims || !bytes) return undefined
  return { header, claims, signed: Buffer.from(`${head}.${body}`), signature: bytes }
}

function objectOf(part: string): Record<string, unknown> | undefined {
  const bytes = decoded(part, 'base64url')
  if (!bytes) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Each algorithm has one kind of key: a public key is never taken for a shared one. */
const KINDS: Record<Exclude<JwtAlgorithm, 'HS256'>, { type: string; hash: string | null }> = {
  RS256: { type: 'rsa', hash: 'sha256' },
  ES256: { type: 'ec', hash: 'sha256' },
  EdDSA: { type: 'ed25519', hash: null },
}

export function isSignedBy(jws: Jws, algorithm: JwtAlgorithm, key: string | KeyObject): boolean {
  const { signed, signature } = jws
  if (algorithm === 'HS256') {
    if (typeof key !== 'string') return false
    const expected = createHmac('sha256', key).update(signed).digest()
    return expected.length === signature.length && timingSafeEqual(expected, signature)
  }
  const { type, hash } = KINDS[algorithm]
  if (typeof key === 'string' || key.asymmetricKeyType !== type) return false
  if (isWeakRsa(key)) return false
  if (algorithm === 'ES256' && key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return false
  try {
    return verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
  } catch {
    return false
  }
}

/** The key of a JWK (RFC 7517); `undefined` where it is for something else, or none. */
export function keyOfJwk(jwk: unknown, algorithm: JwtAlgorithm): KeyObject | undefined {
  if (typeof jwk !== 'object' || jwk === null) return undefined
  const { alg, use } = jwk as { alg?: unknown; use?: unknown }
  if ((alg !== undefined && alg !== algorithm) || (use !== undefined && use !== 'sig'))
    return undefined
  try {
    return createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
  } catch {
    return undefined
  }
}
