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
      const limits = await deleteAllowances(tx, ids)
      return { hashes: await deleteKeys(tx, ids), result: { keys: ids.length, limits } }
    })

  async function eraseKeys(tenant: string): Promise<{ keys: number; limits: number }> {
    const all = { keys: 0, limits: 0 }
    for (let portion = KEYS_PORTION; portion === KEYS_PORTION;) {
      const { keys, limits } = await erasePortion(tenant)
      portion = keys
      all.keys += keys
      all.limits += limits
    }
    return all
  }

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
