/** How a key that is not in the cache is looked up: within a budget, in batches, from its row. */
import type { Db } from '@svc/core/internal'
import type { LimitedKey } from '../../limits/allowances.ts'
import type { MeterList } from '../../limits/meter-list.ts'
import { findKeysByHash, type StoredKey } from '../../tables/stored-keys.ts'
import { CannotDecide, UNKNOWN_KEY } from '../auth-failure.ts'
import { unwatchedPrefix } from '../lockout/lockout.ts'
import { batchLookup } from '../batch-lookup.ts'
import type { ScopeNames } from '../../scopes.ts'
import {
  checksOf,
  createCachedKey,
  ForNow,
  isFailure,
  type LookUp,
  type LookupResult,
} from './key-cache.ts'
import type { ForeignKeys } from './foreign-keys.ts'
import type { LookupBudgets } from './token-bucket.ts'

export interface KeyLookupParts {
  db: Db
  budgets: LookupBudgets
  names: ScopeNames
  limitsOf: (key: LimitedKey) => MeterList | null
  /** Whether tenants have plans, on which the limits of their keys depend. */
  hasPlans: boolean
  isLockoutEnabled: boolean
  /** Keys that were imported by the hash of another system; `null` without the option `importedKeys`. */
  foreignKeys: ForeignKeys | null
}

/** A valid key gives back what its lookup took: only keys that are not valid use up a budget. */
export function createKeyLookup(parts: KeyLookupParts): LookUp {
  const { db, budgets, foreignKeys } = parts

  const findKey = batchLookup((hashes) => findKeysByHash(db, hashes))
  return async (hash, { text, format }) => {
    const budget = budgets[format]
    if (!budget.take()) throw new CannotDecide('too many unknown keys to look up')
    const key = await findKey(hash)
    const foreign =
      key === undefined && format === 'otherFormat'
        ? await foreignKeys?.find(text, hash)
        : undefined
    const result = resultOf(key ?? foreign?.key, parts)
    if (!isFailure(result)) budget.refund()
    return foreign?.isHashStored === false ? new ForNow(result) : result
  }
}

function resultOf(
  key: StoredKey | undefined,
  { names, limitsOf, hasPlans, isLockoutEnabled }: KeyLookupParts,
): LookupResult {
  if (!key) return UNKNOWN_KEY
  const { id: keyId, userId, tenant, expiresAtMs } = key
  if (key.isRevoked) return { verdict: 'revoked', keyId }
  if (!key.isEnabled) return { verdict: 'disabled', keyId }
  const auth = { userId, scopes: names.resolve(key.scopes), bootstrap: false, keyId, tenant }
  const prefix = isLockoutEnabled ? unwatchedPrefix(key.keyPrefix) : null
  if (!hasPlans || tenant === null) {
    return createCachedKey(auth, expiresAtMs, prefix, checksOf(key), limitsOf(key))
  }
  const { allowancesOf, limits, quota } = key
  const limited = { allowancesOf, tenant, limits, quota }
  return createCachedKey(auth, expiresAtMs, prefix, checksOf(key), null, limited)
}
