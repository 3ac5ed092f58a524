/** What `svc.eraseTenant` does in the tables of auth. */
import { setTimeout as pause } from 'node:timers/promises'
import type { TenantPart } from '@svc/core/internal'
import {
  deleteAllowances,
  deleteKeys,
  deleteUsageOfTenant,
  deleteUsersOfTenant,
  KEYS_PORTION,
  lockKeyIdsOfTenant,
  revokeKeysOfTenant,
} from '../tables/tenants.ts'
import type { OperationContext } from './context.ts'

/** Until every process has read of a revocation: see guard/keys/cache-lease.ts. */
const FORGOTTEN_MS = 1000

export function createTenantPart({ db, changeKeys }: OperationContext): TenantPart {
  /** The keys of a portion, and the rows of their allowances. */
  const erasePortion = (tenant: string) =>
    changeKeys({}, async (tx) => {
      const ids = await lockKeyIdsOfTenant(tx, tenant)
      const limits = await deleteAllowances(
        tx,
        ids.map((id) => `key:${id}`),
      )
      return { hashes: await deleteKeys(tx, ids), result: { keys: ids.length, limits } }
    })

  return {
    async close(tenant) {
      let revoked = 0
      for (let portion = KEYS_PORTION; portion === KEYS_PORTION;) {
        portion = await changeKeys({}, async (tx) => {
          const hashes = await revokeKeysOfTenant(tx, tenant)
          return { hashes, result: hashes.length }
        })
        revoked += portion
      }
      if (revoked > 0) await pause(FORGOTTEN_MS)
    },

    async erase(tenant) {
      let keys = 0
      let limits = 0
      for (let portion = KEYS_PORTION; portion === KEYS_PORTION;) {
        const erased = await erasePortion(tenant)
        portion = erased.keys
        keys += erased.keys
        limits += erased.limits
      }
      // Deleted after the keys: a process writes no more usage for a deleted key.
      const rollUps = await deleteUsageOfTenant(db, tenant)
      limits += await deleteAllowances(db, [`tenant:${tenant}`])
      return { keys, limits, rollUps, users: await deleteUsersOfTenant(db, tenant) }
    },
  }
}
