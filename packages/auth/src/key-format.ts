/**
 * The text of a key: `svc_`, 32 random characters, 6 of a checksum. By the fixed start and the
 * checksum secret scanners find leaked keys, and typing errors are refused without a query.
 */
import { hash as hashText, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const START = 'svc_'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
const FORMAT = /^svc_[0-9A-Za-z]{38}$/

export const PREFIX_LENGTH = 8

/** A longer text is refused without being hashed. */
export const LONGEST_KEY = 512

export function generateKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => DIGITS[randomInt(DIGITS.length)])
  const body = random.join('')
  return START + body + checksumOf(body)
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

/** `badChecksum`: a text in our format that was never a key. `otherFormat`: e.g. the bootstrap key. */
export type KeyFormat = 'wellFormed' | 'badChecksum' | 'otherFormat'

export function formatOf(key: string): KeyFormat {
  if (!FORMAT.test(key)) return 'otherFormat'
  const end = START.length + RANDOM_LENGTH
  return checksumOf(key.slice(START.length, end)) === key.slice(end) ? 'wellFormed' : 'badChecksum'
}

/**
 * SHA-256, the only form in which a key is stored, remembered or compared. As 32 one-byte characters,
 * which a map finds in half the time that it takes for hexadecimal.
 */
export const hashOf = (key: string): string => hashText('sha256', key, 'binary')

/** A hash as the tables have it. */
export const hexOf = (hash: string): string => Buffer.from(hash, 'latin1').toString('hex')

export const hashOfHex = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1')

/** The only part of a key that is shown again. A shorter text is its own prefix. */
export const prefixOf = (key: string): string => key.slice(0, PREFIX_LENGTH)
