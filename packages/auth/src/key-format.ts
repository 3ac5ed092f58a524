/**
 * The text of a key: `svc_` (or the letters of the option `keyPrefix`), 32 random characters, 6 of a
 * checksum. Secret scanners find leaked keys by the fixed start and the checksum, and typing errors are
 * refused without a query.
 */
import { hash as hashText, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
export const DEFAULT_LETTERS = 'svc'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
const BODY = /^[0-9A-Za-z]{38}$/

export const PREFIX_LENGTH = 8

/** A longer text is refused without being hashed. */
export const LONGEST_KEY = 512

export function generateKey(letters = DEFAULT_LETTERS): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => DIGITS[randomInt(DIGITS.length)])
  const body = random.join('')
  return `${letters}_${body}${checksumOf(body)}`
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

/** `letters`: those that begin the keys of this host, beside the default ones. */
export function formatOf(key: string, letters = DEFAULT_LETTERS): KeyFormat {
  const start = [letters, DEFAULT_LETTERS].find((each) => key.startsWith(`${each}_`))
  if (start === undefined) return 'otherFormat'
  const body = key.slice(start.length + 1)
  if (!BODY.test(body)) return 'otherFormat'
  const random = body.slice(0, RANDOM_LENGTH)
  return checksumOf(random) === body.slice(RANDOM_LENGTH) ? 'wellFormed' : 'badChecksum'
}

/**
 * SHA-256, the only form in which a key is stored, remembered or compared. As 32 one-byte characters,
 * which a map finds in half the time that it takes for hexadecimal.
 */
export const hashOf = (key: string): string => hashText('sha256', key, 'binary')

/** What another system has made of a key is stored like a key: it may be enough to guess one. */
export const foreignHashOf = hashOf

/** A hash as the tables have it. */
export const hexOf = (hash: string): string => Buffer.from(hash, 'latin1').toString('hex')

/** `null`: of an imported key that was not used yet. No text has the hash that it becomes. */
export const hashOfHex = (hex: string | null): string =>
  Buffer.from(hex ?? '', 'hex').toString('latin1')

/** The only part of a key that is shown again. A shorter text is its own prefix. */
export const prefixOf = (key: string): string => key.slice(0, PREFIX_LENGTH)
