import type { Preset } from '../preset.ts'
import type { Scheme } from '../preset-schemes.ts'

const WORDS: Record<Scheme['algorithm'], string> = {
  'hmac-sha1': 'HMAC-SHA-1',
  'hmac-sha256': 'HMAC-SHA-256',
  'hmac-sha512': 'HMAC-SHA-512',
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  'rsa-sha1': 'RSA-SHA-1',
  'rsa-sha256': 'RSA-SHA-256',
  'ecdsa-sha256': 'ECDSA-P-256',
  ed25519: 'Ed25519',
  jwt: 'JWT',
  token: 'token',
  basic: 'HTTP Basic',
}

/** How the requests of a row are verified, in words. */
export function schemeOf({ schemes }: Preset): string {
  const words = schemes.map((scheme) =>
    scheme.algorithm === 'jwt' ? `JWT (${scheme.algorithms.join(', ')})` : WORDS[scheme.algorithm],
  )
  return [...new Set(words)].join(', ')
}
