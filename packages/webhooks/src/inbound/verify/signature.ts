/** How a signature is written. */
export type SignatureEncoding = 'hex' | 'base64'

/**
 * The bytes of a signature, or `undefined` where the text is not exactly one of `length` bytes.
 * Node's decoders stop at, or skip, what they cannot read, and a prefix of the right signature is
 * not the right signature.
 */
export function signatureBytes(
  text: string,
  encoding: SignatureEncoding,
  length: number,
): Buffer | undefined {
  if (encoding === 'hex' && !/^[0-9a-f]*$/i.test(text)) return undefined
  const bytes = Buffer.from(text, encoding)
  if (bytes.length !== length) return undefined
  const whole = encoding === 'hex' ? text.length === 2 * length : bytes.toString('base64') === text
  return whole ? bytes : undefined
}
