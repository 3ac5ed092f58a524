import { SecretMissing } from '../errors.ts'
import type { SecretLookup } from '../source.ts'

/**
 * The named secret, looked up anew for each request, so that a rotated one counts at once.
 *
 * @throws SecretMissing for one that is not set or empty: an empty key would let anybody sign
 */
export async function neededSecret(secret: SecretLookup, name: string): Promise<string> {
  const value = await secret(name)
  if (typeof value !== 'string' || value === '') throw new SecretMissing(name)
  return value
}
