/** Which tenants there are, and what keys may be given. */
import { Type } from '@sinclair/typebox'
import { pageOf, shapeOf } from '@svc/core/internal'
import { TenantOfAuth, TenantPage } from '../schemas.ts'
import { listTenants } from '../tables/users.ts'
import { grantorOf } from './key-checks.ts'
import { operation, reachOfCall, type OperationContext } from './context.ts'

const ScopeFilter = Type.Object(
  { grantable: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
)

export const listOperations = ({ readDb, scopes }: OperationContext) => ({
  listTenants: operation({
    input: TenantPage,
    output: Type.Array(TenantOfAuth),
    routes: {
      'GET /tenants': {
        takes: { after: TenantPage.properties.after, search: TenantPage.properties.search },
        limit: 1000,
        summary: 'List the tenants that have users, by name',
        async page(by, { limit, ...page }) {
          const found = await listTenants(readDb, reachOfCall(by), { ...page, limit: limit + 1 })
          return pageOf(
            found.map((one) => ({ ...one, id: one.tenant })),
            limit,
          )
        },
      },
    },
    run: (by, page) => listTenants(readDb, reachOfCall(by), page),
  }),

  /** `grantable`: those that the caller may give to a key, namespaces among them. */
  listScopes: operation({
    input: ScopeFilter,
    output: shapeOf<string[]>(),
    async run(by, { grantable = false }) {
      if (!grantable) return [...scopes.known]
      const all = [...scopes.known, ...scopes.namespaces]
      const grantor = await grantorOf(readDb, by)
      const withheld = grantor ? scopes.ungrantable(grantor.scopes, all) : []
      return all.filter((name) => !withheld.includes(name))
    },
  }),
})
