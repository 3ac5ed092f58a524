import { InvalidOption } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import { KeyRing, NO_CIPHER, parseKey, type Cipher } from './key-ring.ts'

/** Reads the keys of the option `encryption`. @throws InvalidOption */
export async function openKeyRing(
  encryption: { secretNames: readonly string[] } | null,
  secrets: Secrets,
): Promise<Cipher> {
  if (encryption === null) return NO_CIPHER
  const keys = await Promise.all(encryption.secretNames.map((name) => keyOf(name, secrets)))
  return new KeyRing(keys as [Buffer, ...Buffer[]])
}

async function keyOf(name: string, secrets: Secrets): Promise<Buffer> {
  const secret = await secrets.get(name)
  const key = secret === null ? null : parseKey(secret)
  if (key !== null) return key
  const found = secret === null ? 'it is not set' : 'it is another text'
  throw new InvalidOption(
    `svcCore: the secret "${name}" of the option "encryption" must be 32 bytes in base64, but ${found}`,
  )
}
