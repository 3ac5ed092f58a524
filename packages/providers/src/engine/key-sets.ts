/** Public keys of a provider's key set (RFC 7517), for signatures that are no JWT. */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { NotFetched } from '../errors.ts'
import type { KeySet } from '../preset-schemes.ts'
import { clientOf, pinnedTo, type ProviderClient } from '../provider-client.ts'
import { findAt, type Reading } from './places.ts'
import { stringOf } from './text.ts'

/** The age from which a key set is fetched again because of an unknown key. */
export const REFETCH_MS = 60_000
/** Each takes about 0.1 ms to verify with. A provider needs two during a rotation. */
const MOST_KEYS = 16

interface PublicKey {
  kid: string | undefined
  key: KeyObject
}

/**
 * Whether one of the keys of the set that have the request's id, or one of all where it names none, is that
 * which signed. A new key is found in a set that is fetched anew.
 *
 * @throws NotFetched or ProviderAway
 */
export function verifyByKeySet(set: KeySet) {
  const address = stringOf(set.url)
  const pin = pinnedTo(set)
  const kidIn = set.kid === undefined ? undefined : findAt(set.kid)
  // The keys of an answer are imported once, while it is kept.
  let known: { answer: string; keys: PublicKey[] } | undefined
  const keysIn = (answer: string): PublicKey[] => {
    if (known?.answer !== answer) known = { answer, keys: publicKeysIn(answer) }
    return known.keys
  }
  return async (
    reading: Reading,
    client: ProviderClient | undefined,
    isBy: (key: KeyObject) => boolean,
  ): Promise<boolean> => {
    const wanted = pin(address(reading))
    const kid = kidIn?.(reading)
    if (kidIn && kid === undefined) return reading.sent.reject('the request names no key')
    let before: string | undefined
    for (const maxAgeMs of [undefined, REFETCH_MS]) {
      const answer = await clientOf(client).text({ ...wanted, ...(maxAgeMs && { maxAgeMs }) })
      if (answer === before) break
      before = answer
      const keys = keysIn(answer).filter((one) => kid === undefined || one.kid === kid)
      if (keys.length === 0) reading.sent.reject('the key of the request is unknown')
      if (keys.some(({ key }) => isBy(key))) return true
    }
    return false
  }
}

function publicKeysIn(answer: string): PublicKey[] {
  let set: unknown
  try {
    set = JSON.parse(answer)
  } catch {
    throw new NotFetched('what was fetched is not JSON')
  }
  const keys: unknown = (set as { keys?: unknown } | null)?.keys
  return (Array.isArray(keys) ? keys : []).slice(0, MOST_KEYS).flatMap((jwk: unknown) => {
    const { kid, use } = (jwk ?? {}) as { kid?: unknown; use?: unknown }
    if (use !== undefined && use !== 'sig') return []
    try {
      const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
      return [{ kid: typeof kid === 'string' ? kid : undefined, key }]
    } catch {
      return []
    }
  })
}
