/** How a key that is not in the cache is looked up: within a budget, in batches, from its row. */
import type { Db } from '@svc/core/internal'
import { findKeysByHash, type StoredKey } from '../../tables/api-keys.ts'
import { CannotDecide, UNKNOWN_KEY } from '../auth-failure.ts'
import { unwatchedPrefix } from '../lockout/lockout.ts'
import { batchLookup } from './batch-lookup.ts'
import { createCachedKey } from './cached-key.ts'
import { isFailure, type LookUp, type LookupResult } from './key-cache.ts'
import type { LookupBudgets } from './token-bucket.ts'

/** A valid key gives back what its lookup took: only keys that are not valid use up a budget. */
export function createKeyLookup(db: Db, budgets: LookupBudgets, isLockoutEnabled: boolean): LookUp {
  const findKey = batchLookup((hashes) => findKeysByHash(db, hashes))
  return async (hash, format) => {
    const budget = budgets[format]
    if (!budget.take()) throw new CannotDecide('too many unknown keys to look up')
    const result = resultOf(await findKey(hash), isLockoutEnabled)
    if (!isFailure(result)) budget.refund()
    return result
  }
}

function resultOf(key: StoredKey | undefined, isLockoutEnabled: boolean): LookupResult {
  if (!key) return UNKNOWN_KEY
  const { id: keyId, userId, scopes, expiresAtMs } = key
  if (key.isRevoked) return { verdict: 'revoked', keyId }
  const auth = { userId, scopes, bootstrap: false, keyId }
  const prefix = isLockoutEnabled ? unwatchedPrefix(key.keyPrefix) : null
  return createCachedKey(auth, expiresAtMs, prefix)
}
