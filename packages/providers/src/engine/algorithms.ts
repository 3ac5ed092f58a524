/**
 * The cryptography of the schemes: one comparison for each algorithm. None of them throws on
 * invalid input.
 */
import { Buffer } from 'node:buffer'
import { createHash, createHmac, hash, timingSafeEqual, verify, type KeyObject } from 'node:crypto'
import type { SignatureScheme } from '../preset-schemes.ts'

type Algorithm = SignatureScheme['algorithm']
export type Encoding = SignatureScheme['encoding']
type Chunk = string | Uint8Array

/** The key in the form that an algorithm needs: a shared or a public key, or nothing. */
export type SigningKey = KeyObject | null

const HASHES: Partial<Record<Algorithm, string>> = {
  'hmac-sha1': 'sha1',
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
}
/**
 * Each takes about 0.1 ms to verify. A provider needs two during a rotation, and a header has room
 * for hundreds that are made up.
 */
const MAX_PUBLIC_SIGNATURES = 16
const PUBLIC: Partial<Record<Algorithm, { hash: string | null; type: string }>> = {
  'rsa-sha1': { hash: 'RSA-SHA1', type: 'rsa' },
  'rsa-sha256': { hash: 'RSA-SHA256', type: 'rsa' },
  'ecdsa-sha256': { hash: 'sha256', type: 'ec' },
  ed25519: { hash: null, type: 'ed25519' },
}

export const needsPublicKey = (algorithm: Algorithm): boolean => PUBLIC[algorithm] !== undefined

/**
 * Whether one of the signatures is right. All keyed hashes are compared, so that the duration does
 * not depend on which one matches. Of signatures with a public key the first sixteen count.
 */
export function matches(
  algorithm: Algorithm,
  key: SigningKey,
  signed: readonly Chunk[],
  signatures: readonly string[],
  encoding: Encoding,
): boolean {
  const publicKey = PUBLIC[algorithm]
  if (!publicKey) {
    const expected = digest(algorithm, key, signed)
    let isRight = false
    for (const text of signatures) {
      const given = decoded(text, encoding)
      if (given?.length === expected.length && timingSafeEqual(given, expected)) isRight = true
    }
    return isRight
  }
  // A key of another kind would be used with an algorithm that the provider does not have.
  if ((key as KeyObject).asymmetricKeyType !== publicKey.type) return false
  if (isWeakRsa(key as KeyObject)) return false
  const bytes = Buffer.concat(signed.map((chunk) => Buffer.from(chunk as string)))
  return signatures
    .slice(0, MAX_PUBLIC_SIGNATURES)
    .map((text) => decoded(text, encoding))
    .some((given) => given !== undefined && verifies(publicKey.hash, bytes, key, given))
}

const LEAST_RSA_BITS = 2048

/** A shorter key can be factored, or soon will be (RFC 7518, section 3.3). */
const isWeakRsa = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) < LEAST_RSA_BITS

function verifies(digest: string | null, bytes: Buffer, key: SigningKey, given: Buffer): boolean {
  try {
    return verify(digest, bytes, key as KeyObject, given)
  } catch {
    return false
  }
}

function digest(algorithm: Algorithm, key: SigningKey, signed: readonly Chunk[]): Buffer {
  const keyed = HASHES[algorithm]
  const hashing = keyed === undefined ? createHash(algorithm) : createHmac(keyed, key as KeyObject)
  for (const chunk of signed) hashing.update(chunk)
  return hashing.digest()
}

/**
 * The bytes of a signature; `undefined` where the text is not exactly what they are written as.
 * Node's decoders skip or stop at characters that they cannot read: a prefix of the right signature
 * must not pass for it.
 */
export function decoded(text: string, encoding: Encoding): Buffer | undefined {
  if (encoding === 'hex') {
    return /^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : undefined
  }
  const bytes = Buffer.from(text, encoding)
  const written = bytes.toString(encoding)
  const isWhole = text === written || (encoding === 'base64url' && isPadded(text, written))
  return bytes.length > 0 && isWhole ? bytes : undefined
}

/** A search for the padding at the end would take a time that is quadratic in a run of `=`. */
const isPadded = (text: string, written: string): boolean =>
  text.length <= written.length + 2 && text === written.padEnd(text.length, '=')

/** Compares hashes, so that the duration reveals neither the difference nor the length. */
export function equalBytes(given: Uint8Array, expected: Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}

/**
 * Whether the value of a header is this text. Node reads header bytes as Latin-1: a secret with
 * characters beyond ASCII matches whether the sender wrote it in UTF-8 or in Latin-1.
 */
export function equalHeader(value: string, expected: string): boolean {
  const wanted = Buffer.from(expected)
  const asUtf8 = equalBytes(Buffer.from(value, 'latin1'), wanted)
  const asLatin1 = equalBytes(Buffer.from(value), wanted)
  return asUtf8 || asLatin1
}
