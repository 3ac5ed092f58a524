import { SecretMissing } from '../errors.ts'

/** What a helper is given; a host that tries one by itself may pass a function that is async. */
type Lookup = (name: string) => string | null | Promise<string | null>

/**
 * The named secret.
 *
 * @throws SecretMissing for one that is not set or empty: an empty key would let anybody sign
 */
export async function neededSecret(secret: Lookup, name: string): Promise<string> {
  const value = await secret(name)
  if (typeof value !== 'string' || value === '') throw new SecretMissing(name)
  return value
}
