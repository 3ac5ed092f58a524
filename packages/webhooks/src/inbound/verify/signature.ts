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
