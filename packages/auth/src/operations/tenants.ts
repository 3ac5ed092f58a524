/** Which tenants there are, and what keys may be given. */
import type { TenantOfAuth, TenantPage } from '../schemas.ts'
import { listTenants } from '../tables/users.ts'
import { grantorOf } from './grantor.ts'
import { reachOfCall, type OperationCall, type OperationContext } from './context.ts'

export const createTenantLists = ({ readDb, scopes }: OperationContext) => ({
  listTenants: (page: TenantPage, call: OperationCall = {}): Promise<TenantOfAuth[]> =>
    listTenants(readDb, reachOfCall(call), page),

  /** `isGrantable`: those that the caller may give to a key, namespaces among them. */
  async listScopes(isGrantable: boolean, call: OperationCall = {}): Promise<string[]> {
    if (!isGrantable) return [...scopes.known]
    const all = [...scopes.known, ...scopes.namespaces]
    const grantor = await grantorOf(readDb, call)
    const withheld = grantor ? scopes.ungrantable(grantor.scopes, all) : []
    return all.filter((name) => !withheld.includes(name))
  },
})
