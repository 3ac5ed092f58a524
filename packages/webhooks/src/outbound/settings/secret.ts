/** The secret of a webhook, which signs its deliveries. */
import { randomBytes } from 'node:crypto'
import { isSealed, wordedPattern } from '@svc/core/internal'
import { SecretRefused } from '../../errors.ts'

export const SHORTEST_SECRET = 16
export const LONGEST_SECRET = 256
export const SECRET_TEXT = wordedPattern('^[!-~]+$', 'visible ASCII characters')

const STANDARD_PREFIX = 'whsec_'
const PUBLIC_PREFIX = 'whpk_'
const SHORTEST_KEY_BYTES = 16

/** 32 random bytes in the form that Standard Webhooks gives its secrets. */
export const newSecret = (): string => `${STANDARD_PREFIX}${randomBytes(32).toString('base64')}`

/** Checks what the pattern of a secret cannot say. @throws SecretRefused, without the secret */
export function assertSecret(secret: string): void {
  if (secret.startsWith(STANDARD_PREFIX)) {
    const base64 = secret.slice(STANDARD_PREFIX.length)
    const key = Buffer.from(base64, 'base64')
    // Node's decoder skips what is not base64. Another one would refuse it, or find another key.
    if (key.length < SHORTEST_KEY_BYTES || key.toString('base64') !== base64) {
      throw new SecretRefused(`"whsec_" must be followed by base64 of at least 16 bytes`)
    }
  }
  if (secret.startsWith(PUBLIC_PREFIX)) {
    throw new SecretRefused('it is a public key ("whpk_…"), with which anyone could sign')
  }
  if (isSealed(secret)) throw new SecretRefused('it begins as our encrypted ones do')
}
