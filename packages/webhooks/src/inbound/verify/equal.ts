import { hash, timingSafeEqual } from 'node:crypto'

/** Compares in constant time whatever the lengths are: what is compared are hashes. */
export function equalBytes(given: Uint8Array, expected: Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}

/**
 * Whether a header's value is this text. Node reads a header byte by byte as Latin-1, so a secret
 * beyond ASCII is the same whether its sender wrote it in UTF-8 or in Latin-1.
 */
export function equalHeader(value: string, expected: string): boolean {
  const wanted = Buffer.from(expected)
  const asUtf8 = equalBytes(Buffer.from(value, 'latin1'), wanted)
  const asLatin1 = equalBytes(Buffer.from(value), wanted)
  return asUtf8 || asLatin1
}
