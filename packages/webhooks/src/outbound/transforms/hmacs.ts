/** The HMACs that the `sign` of a transform is given. */
import { createHmac } from 'node:crypto'

/** The algorithm of an HMAC, and how it is written. */
export interface HmacFormat {
  /** @default 'sha256' */
  algorithm?: 'sha1' | 'sha256' | 'sha384' | 'sha512' | undefined
  /** @default 'hex' */
  encoding?: 'hex' | 'base64' | 'base64url' | undefined
}

/** HMACs with the secrets of a webhook. The key is the whole text of a secret, `whsec_` included. */
export interface Hmacs {
  /** With the secret that the webhook has now. @throws TypeError for another algorithm or encoding */
  hmac: (text: string, options?: HmacFormat) => string
  /**
   * With each secret that is valid now, newest first: more than one after a rotation.
   *
   * @throws TypeError for another algorithm or encoding
   */
  hmacs: (text: string, options?: HmacFormat) => string[]
}

const ALGORITHMS = ['sha1', 'sha256', 'sha384', 'sha512'] as const
const ENCODINGS = ['hex', 'base64', 'base64url'] as const

/**
 * @param secrets newest first
 * @param made gets each HMAC that is made
 */
export function hmacsWith(
  secrets: readonly [string, ...string[]],
  made: { push(hmac: string): void } = [],
): Hmacs {
  const make = (secret: string, text: string, options?: HmacFormat): string => {
    const one = hmacOf(secret, text, options)
    made.push(one)
    return one
  }
  return {
    hmac: (text, options) => make(secrets[0], text, options),
    hmacs: (text, options) => secrets.map((secret) => make(secret, text, options)),
  }
}

function hmacOf(secret: string, text: string, options: HmacFormat = {}): string {
  if (typeof text !== 'string') throw new TypeError('an HMAC is made of a text')
  if (typeof options !== 'object') throw new TypeError('the options of an HMAC are an object')
  const { algorithm = 'sha256', encoding = 'hex', ...others } = options
  // Node knows more of both: a weaker one that is mistyped would be sent, and refused by the receiver.
  if (!ALGORITHMS.includes(algorithm) || !ENCODINGS.includes(encoding)) {
    throw new TypeError(
      `an HMAC has one of the algorithms ${ALGORITHMS.join(', ')} and of the encodings ${ENCODINGS.join(', ')}`,
    )
  }
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new TypeError(`an HMAC has no option "${unknown}"`)
  return createHmac(algorithm, secret).update(text).digest(encoding)
}
