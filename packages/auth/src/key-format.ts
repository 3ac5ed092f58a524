/**
 * The text of a key: `svc_`, 32 random characters, 6 of a checksum. The fixed head and the checksum
 * let secret scanners find leaked keys, and let us turn typing errors away without asking Postgres.
 */
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const HEAD = 'svc_'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
const MINTED = /^svc_[0-9A-Za-z]{38}$/

export const PREFIX_LENGTH = 8

/** What is longer is no key, and is not hashed. */
export const LONGEST_KEY = 512

export function mintKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => DIGITS[randomInt(DIGITS.length)])
  const body = random.join('')
  return HEAD + body + checksumOf(body)
}

/** CRC-32 in base62, padded with zeros. */
export function checksumOf(body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = DIGITS[rest % DIGITS.length] + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}

/** `mistyped` has the shape of our keys and a checksum that is not theirs: no such key exists. */
export type Shape = 'minted' | 'mistyped' | 'foreign'

export function shapeOf(key: string): Shape {
  if (!MINTED.test(key)) return 'foreign'
  const end = HEAD.length + RANDOM_LENGTH
  return checksumOf(key.slice(HEAD.length, end)) === key.slice(end) ? 'minted' : 'mistyped'
}

/**
 * SHA-256, the only form in which a key is stored, remembered or compared. As 32 one-byte characters:
 * a map finds them in half the time that it takes for hexadecimal.
 */
export const digestOf = (key: string): string => hash('sha256', key, 'binary')

/** A digest as it stands in tables. */
export const hexOf = (digest: string): string => Buffer.from(digest, 'latin1').toString('hex')

export const digestOfHex = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1')

/** The only part of a key that is ever shown again. A shorter text is its own prefix. */
export const prefixOf = (key: string): string => key.slice(0, PREFIX_LENGTH)
