/** Which tenants there are, and what keys may be given. */
import type { TenantOfAuth, TenantPage } from '../schemas.ts'
import { listTenants } from '../tables/users.ts'
import { reachOfCall, type OperationCall, type OperationContext } from './context.ts'

export const createTenantLists = ({ db, scopes }: OperationContext) => ({
  listTenants: (page: TenantPage, call: OperationCall = {}): Promise<TenantOfAuth[]> =>
    listTenants(db, reachOfCall(call), page),

  listScopes: (): string[] => [...scopes.known],
})
