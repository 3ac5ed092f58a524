/** Public keys of a provider's key set (RFC 7517), for signatures that are no JWT. */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { NotFetched, ProviderAway } from '../errors.ts'
import type { KeySet } from '../preset-schemes.ts'
import { clientOf, pinnedTo, type ProviderClient, type Wanted } from '../provider-client.ts'
import { findAt, type Reading } from './places.ts'
import { stringOf } from './text.ts'

/** The age from which a key set is fetched again because of an unknown key. */
const REFETCH_MS = 60_000
/** Each takes about 0.1 ms to verify with. A provider needs two during a rotation. */
const MOST_KEYS = 16

/**
 * The text of a key set: that which is known, or, where `isAnew`, one that was fetched in the last minute.
 *
 * @throws ProviderAway where the provider has none: the sender did nothing wrong
 */
export async function keySetText(
  client: ProviderClient | undefined,
  wanted: Wanted,
  isAnew: boolean,
): Promise<string> {
  try {
    return await clientOf(client).text({
      ...wanted,
      isRight: (body) => Array.isArray(keysIn(parsed(body))),
      ...(isAnew && { maxAgeMs: REFETCH_MS }),
    })
  } catch (error) {
    throw error instanceof NotFetched ? new ProviderAway(error.message) : error
  }
}

/** What a text is as JSON; `undefined` where it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const keysIn = (set: unknown): unknown => (set as { keys?: unknown } | null | undefined)?.keys

interface PublicKey {
  kid: string | undefined
  key: KeyObject
}

/**
 * Whether one of the keys of the set that have the request's id, or one of all where it names none, is that
 * which signed. A new key is found in a set that is fetched anew.
 *
 * @throws ProviderAway
 */
export function verifyByKeySet(set: KeySet) {
  const address = stringOf(set.url)
  const pin = pinnedTo(set)
  const kidIn = set.kid === undefined ? undefined : findAt(set.kid)
  // The keys of an answer are imported once, while it is kept.
  let known: { answer: string; keys: PublicKey[] } | undefined
  const keysOf = (answer: string): PublicKey[] => {
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
    for (const isAnew of [false, true]) {
      const answer = await keySetText(client, wanted, isAnew)
      if (answer === before) break
      before = answer
      const keys = keysOf(answer).filter((one) => kid === undefined || one.kid === kid)
      if (keys.length === 0) reading.sent.reject('the key of the request is unknown')
      if (keys.some(({ key }) => isBy(key))) return true
    }
    return false
  }
}

function publicKeysIn(answer: string): PublicKey[] {
  return (keysIn(parsed(answer)) as unknown[]).slice(0, MOST_KEYS).flatMap((jwk: unknown) => {
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
