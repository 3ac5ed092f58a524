import type { Authentication } from '../guard/keys/authentication.ts'
import { keyOperations } from './api-keys.ts'
import { auditOperations } from './audit.ts'
import { importOperation } from './import-keys.ts'
import { keyChecks } from './key-checks.ts'
import type { OperationContext } from './context.ts'
import { nearLimitsOperation } from './limit-usage.ts'
import { planOperations } from './plans.ts'
import { presentedKey } from './presented-key.ts'
import { listOperations } from './tenants.ts'
import { usageOperations } from './usage.ts'
import { userOperations } from './users.ts'

/**
 * What can be done with users and keys: `methods` by `svc.auth`, the named actions and routes, the
 * others by routes alone. Ids need not be UUIDs.
 */
export function createOperations(context: OperationContext, authentication: Authentication) {
  const { operations: keys, rotateOwnKey } = keyOperations(context)
  return {
    methods: {
      ...userOperations(context),
      ...keys,
      ...importOperation(context),
      ...planOperations(context),
      ...usageOperations(context),
      ...nearLimitsOperation(context),
      ...keyChecks(context, authentication),
      ...listOperations(context),
    },
    ownKey: { getPresentedKey: presentedKey(context), rotateOwnKey },
    audit: auditOperations(context),
  }
}

export type Operations = ReturnType<typeof createOperations>
