/** What `svc.eraseTenant` does in the tables of auth. */
import { pause, type Db, type TenantPart } from '@svc/core/internal'
import {
  deleteAllowances,
  deleteKeys,
  deleteUsageOfTenant,
  deleteUsersOfTenant,
  KEYS_PORTION,
  lockKeyIdsOfTenant,
  revokeKeysOfTenant,
} from '../tables/tenants.ts'
import type { KeyChange, OperationContext } from './context.ts'

/** Until every process has read of a revocation: see guard/keys/cache-lease.ts. */
const FORGOTTEN_MS = 1000

export function createTenantPart({ db, changeKeys }: OperationContext): TenantPart {
  /** `change` returns how many keys it was for, in a transaction of its own, until none are left. */
  async function inPortions(change: (tx: Db) => Promise<KeyChange<number>>): Promise<number> {
    for (let keys = 0; ;) {
      const portion = await changeKeys({}, change)
      keys += portion
      if (portion < KEYS_PORTION) return keys
    }
  }

  /** With the rows of their allowances. */
  async function eraseKeys(tenant: string): Promise<{ keys: number; limits: number }> {
    let limits = 0
    const keys = await inPortions(async (tx) => {
      const ids = await lockKeyIdsOfTenant(tx, tenant)
      limits += await deleteAllowances(tx, ids)
      return { hashes: await deleteKeys(tx, ids), result: ids.length }
    })
    return { keys, limits }
  }

  return {
    async close(tenant) {
      const revoked = await inPortions(async (tx) => {
        const hashes = await revokeKeysOfTenant(tx, tenant)
        return { hashes, result: hashes.length }
      })
      if (revoked > 0) await pause(FORGOTTEN_MS)
    },

    async erase(tenant) {
      const { keys, limits } = await eraseKeys(tenant)
      // Deleted after the keys: a process writes no more usage for a deleted key.
      const rollUps = await deleteUsageOfTenant(db, tenant)
      const ofTenant = await deleteAllowances(db, [`tenant:${tenant}`])
      const users = await deleteUsersOfTenant(db, tenant)
      // Keys that were being created meanwhile: a create locks the row of its user, which is gone now.
      const late = await eraseKeys(tenant)
      const lateRollUps = late.keys > 0 ? await deleteUsageOfTenant(db, tenant) : 0
      return {
        keys: keys + late.keys,
        limits: limits + ofTenant + late.limits,
        rollUps: rollUps + lateRollUps,
        users,
      }
    },
  }
}
