import type { KeyObject } from 'node:crypto'
import { parsePublicKey, PUBLIC_KEY_PREFIX } from './ed25519.ts'
import { InvalidVerification } from './invalid-delivery.ts'

export function checkedBody(body: unknown): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  throw new InvalidVerification(
    'verifyDelivery: "body" must be the body as it was received, a string or bytes: JSON that was parsed and printed again is not what was signed',
  )
}

/**
 * The same rule as that of the option `headerPrefix` of `@svc/webhooks`: no other prefix is one of a sender.
 */
const PREFIX =
  /^(?!(?:accept|access-control|content|if|proxy|sec|transfer|webhook|x-forwarded)-)[a-z][a-z0-9-]*-$/i
const LONGEST_PREFIX = 32

/** In lower case, as headers are looked up. @throws InvalidVerification */
export function checkedPrefix(headerPrefix: unknown): string {
  const isPrefix =
    typeof headerPrefix === 'string' &&
    headerPrefix.length <= LONGEST_PREFIX &&
    PREFIX.test(headerPrefix)
  if (isPrefix) return headerPrefix.toLowerCase()
  throw new InvalidVerification(
    'verifyDelivery: "headerPrefix" must be that of the sender, such as "X-Acme-": at most 32 letters, digits and "-" that begin with a letter and end with "-", and not as names of HTTP or of Standard Webhooks begin',
  )
}

/** The keys that can verify a delivery. */
export interface Keys {
  secrets: string[]
  publicKeys: KeyObject[]
}

/**
 * A public key is never accepted as a secret: it is public, so that anyone could sign with it.
 *
 * @throws InvalidVerification
 */
export function checkedKeys(secret: unknown, publicKey: unknown): Keys {
  if (secret === undefined && publicKey === undefined) {
    throw new InvalidVerification('verifyDelivery: give "secret" or "publicKey"')
  }
  const secrets = secret === undefined ? [] : checkedTexts('secret', secret)
  const isPublic = (text: string) => text.startsWith(PUBLIC_KEY_PREFIX)
  return {
    secrets: secrets.filter((text) => !isPublic(text)),
    publicKeys: [
      ...secrets.filter(isPublic),
      ...(publicKey === undefined ? [] : checkedTexts('publicKey', publicKey)),
    ].map(parsePublicKey),
  }
}

/** With an empty secret anyone could sign. */
function checkedTexts(name: 'secret' | 'publicKey', given: unknown): string[] {
  const texts: unknown[] = [given].flat()
  if (texts.length > 0 && texts.every((one) => typeof one === 'string' && one !== '')) {
    return texts as string[]
  }
  const one = name === 'secret' ? 'a secret' : 'a public key'
  throw new InvalidVerification(
    `verifyDelivery: "${name}" must be ${one}, or a list of at least one, none of them empty`,
  )
}

/** `NaN` would be within every tolerance. */
export function checkedTolerance(toleranceSeconds: unknown): number {
  if (typeof toleranceSeconds === 'number' && toleranceSeconds >= 0) return toleranceSeconds
  throw new InvalidVerification('verifyDelivery: "toleranceSeconds" must be a number of at least 0')
}
