import { createHmac, createSecretKey } from 'node:crypto'

/**
 * An HMAC (RFC 2104). Node 24.21 asks first whether a key of bytes is a `CryptoKey`, which takes several
 * times as long as the HMAC; it does not ask it of a text or a `KeyObject`.
 */
export const hmacOf = (
  algorithm: string,
  key: string | Uint8Array,
): ReturnType<typeof createHmac> =>
  createHmac(algorithm, typeof key === 'string' ? key : createSecretKey(key))
