/** Makes a key of the text of a secret. */
import { Buffer } from 'node:buffer'
import { createHash, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { EmptyKey, HostMistake } from '../errors.ts'
import type { Key } from '../preset-schemes.ts'

/** Making a key takes longer than using it: those of the secrets used last are kept. */
export function keptBySecret<Made>(
  make: (secret: string, name: string) => Made,
): (secret: string, name?: string) => Made {
  const kept = new Map<string, Made>()
  return (secret, name = '') => {
    const known = kept.get(secret)
    if (known !== undefined) return known
    const made = make(secret, name)
    const [oldest] = kept.keys()
    if (kept.size >= MOST_KEYS && oldest !== undefined) kept.delete(oldest)
    kept.set(secret, made)
    return made
  }
}

const MOST_KEYS = 200

/** Node's decoders stop at what these exclude: the few bytes before it are a key that can be guessed. */
const WHOLE = { text: /^/, hex: /^(?:[0-9a-f]{2})*$/i, base64: /^[^=]*={0,2}$/ }

/**
 * @throws EmptyKey where the key would be empty: anyone could sign with it
 * @throws HostMistake where the secret is not in the encoding of the provider
 */
export function hmacKey(secret: string, key: Key, name: string): KeyObject {
  const { strip = '', encoding = 'text' } = key
  if (!WHOLE[encoding].test(without(strip, secret).trim())) {
    throw new HostMistake(`the secret ${name} is not ${encoding}: set it as the provider shows it`)
  }
  const bytes = bytesOf(secret, key)
  // Before it is hashed: the digest of nothing is a key that anyone has.
  if (bytes.length === 0) throw new EmptyKey(name)
  return sharedKey(
    key.hash === undefined ? bytes : createHash(key.hash).update(bytes).digest(),
    name,
  )
}

/** @throws EmptyKey */
export function sharedKey(bytes: Uint8Array, name: string): KeyObject {
  if (bytes.length === 0) throw new EmptyKey(name)
  return createSecretKey(bytes)
}

function bytesOf(secret: string, { strip = '', encoding = 'text' }: Key): Buffer {
  const rest = without(strip, secret)
  return encoding === 'text' ? Buffer.from(rest) : Buffer.from(rest.trim(), encoding)
}

const without = (strip: string | readonly string[], secret: string): string =>
  [strip]
    .flat()
    .reduce((rest, prefix) => (rest.startsWith(prefix) ? rest.slice(prefix.length) : rest), secret)

/** @throws HostMistake where the secret is no public key */
export function publicKeyOf(secret: string, key: Key): KeyObject {
  try {
    if (key.form === 'raw') return rawEd25519(bytesOf(secret, key))
    if (key.form === 'spki') {
      return createPublicKey({ key: bytesOf(secret, key), format: 'der', type: 'spki' })
    }
    // A PEM in an environment variable often has its line ends written as \n.
    return createPublicKey(secret.replaceAll('\\n', '\n'))
  } catch {
    // Not the parser's message: it may quote the text.
    throw new HostMistake(`the secret is not a public key in the form ${key.form ?? 'pem'}`)
  }
}

/** RFC 8410, section 4: the 32 bytes of the key behind a fixed header. */
function rawEd25519(bytes: Buffer): KeyObject {
  if (bytes.length !== 32) throw new TypeError('an ed25519 key has 32 bytes')
  const header = Buffer.from('302a300506032b6570032100', 'hex')
  return createPublicKey({ key: Buffer.concat([header, bytes]), format: 'der', type: 'spki' })
}
