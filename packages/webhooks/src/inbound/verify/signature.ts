/** The text of a signature, and the timestamp that is signed with it. */

/** How a signature is written. */
export type SignatureEncoding = 'hex' | 'base64'

/** The unit of a timestamp, counted since 1970. */
export type TimestampUnit = 'seconds' | 'milliseconds'

/**
 * The bytes of a signature, or `undefined` where the text is not exactly one of `length` bytes.
 * Node's decoders skip or stop at characters that they cannot read: a prefix of the right signature
 * must not pass for it.
 */
export function signatureBytes(
  text: string,
  encoding: SignatureEncoding,
  length: number,
): Buffer | undefined {
  if (encoding === 'hex' && !/^[0-9a-f]*$/i.test(text)) return undefined
  const bytes = Buffer.from(text, encoding)
  if (bytes.length !== length) return undefined
  const isWhole =
    encoding === 'hex' ? text.length === 2 * length : bytes.toString('base64') === text
  return isWhole ? bytes : undefined
}

/**
 * Whether a timestamp is no further than `toleranceSeconds` from now, in the past or the future.
 * Only plain digits are a timestamp: `Number` would also read `1e9`, `0x5f`, ` 1 ` and ``.
 */
export function isTimely(
  timestamp: string,
  unit: TimestampUnit,
  toleranceSeconds: number,
  nowMs: number,
): boolean {
  if (!/^\d{1,13}$/.test(timestamp)) return false
  if (unit === 'milliseconds') {
    return Math.abs(nowMs - Number(timestamp)) <= toleranceSeconds * 1000
  }
  // Whole seconds on both sides, as the libraries of the senders compare: the bound is inside.
  return Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) <= toleranceSeconds
}
