import { Type } from '@sinclair/typebox'
import { ForeignTenant } from '@svc/core'
import {
  AuditEntry,
  AuditQuery,
  listAudit,
  narrowedReach,
  Nothing,
  reaches,
  TENANT_PATTERN,
} from '@svc/core/internal'
import type { Authentication } from '../guard/keys/authentication.ts'
import { tellPlanChanged } from '../tables/key-changes.ts'
import { keyOperations } from './api-keys.ts'
import { operation, reachOfCall, type OperationContext } from './context.ts'
import { importOperation } from './import-keys.ts'
import { keyChecks } from './key-checks.ts'
import { nearLimitsOperation } from './limit-usage.ts'
import { presentedKey } from './presented-key.ts'
import { listOperations } from './tenants.ts'
import { usageOperations } from './usage.ts'
import { userOperations } from './users.ts'

/**
 * What can be done with users and keys: `methods` by `svc.auth`, the named actions and routes, the
 * others by routes alone. Ids need not be UUIDs.
 */
export function createOperations(context: OperationContext, authentication: Authentication) {
  const { readDb, within, forgetPlan } = context
  const { operations: keys, rotateOwnKey } = keyOperations(context)
  return {
    methods: {
      ...userOperations(context),
      ...keys,
      ...importOperation(context),
      /** Which plan a tenant has is the host's; what was remembered of it ends here. */
      planChanged: operation({
        input: Type.String({ pattern: TENANT_PATTERN }),
        output: Nothing,
        writes: true,
        async run(call, tenant) {
          if (!reaches(reachOfCall(call), tenant)) throw new ForeignTenant()
          await within(call, (tx) => tellPlanChanged(tx, tenant))
          if (call.db === undefined) forgetPlan(tenant)
        },
      }),
      ...usageOperations(context),
      ...nearLimitsOperation(context),
      ...keyChecks(context, authentication),
      ...listOperations(context),
    },
    ownKey: { getPresentedKey: presentedKey(context), rotateOwnKey },
    audit: {
      listAudit: operation({
        input: AuditQuery,
        output: Type.Array(AuditEntry),
        routes: {
          'GET /audit': {
            limit: 1000,
            summary: 'List the changes of users, keys and webhooks, newest first',
            config: { scopes: ['audit:read'] },
          },
        },
        async run(by, { tenant, ...query }) {
          const reach = narrowedReach(reachOfCall(by), tenant)
          return reach === undefined ? [] : listAudit(readDb, reach, query)
        },
      }),
    },
  }
}

export type Operations = ReturnType<typeof createOperations>
