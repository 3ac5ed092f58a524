import { createHmac, createSecretKey } from 'node:crypto'

/**
 * An HMAC (RFC 2104). Node 24.21 first checks whether a key of bytes is a `CryptoKey`, which takes
 * several times as long as the HMAC. It does not check that of a text or a `KeyObject`.
 */
export const hmacOf = (
  algorithm: string,
  key: string | Uint8Array,
): ReturnType<typeof createHmac> =>
  createHmac(algorithm, typeof key === 'string' ? key : createSecretKey(key))
