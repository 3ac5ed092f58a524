import type { Authentication } from '../guard/keys/authentication.ts'
import { createApiKeyOperations } from './api-keys.ts'
import { createAuditOperations } from './audit.ts'
import { createKeyCheck } from './check-key-by-id.ts'
import type { OperationContext } from './context.ts'
import { createLeakOperations } from './leaks.ts'
import { createPresentedKey } from './presented-key.ts'
import { createTenantLists } from './tenants.ts'
import { createUsageOperations } from './usage.ts'
import { createUserOperations } from './users.ts'
import { createKeyValidation } from './validate-api-key.ts'
import { createKeyVerification } from './verify-key-for-services.ts'

export type Operations = ReturnType<typeof createOperations>

/**
 * What can be done with users and keys. Routes check the input before; `svc.auth` and the named
 * actions add a check of their own. Ids need not be UUIDs.
 */
export const createOperations = (context: OperationContext, authentication: Authentication) => ({
  ...createUserOperations(context),
  ...createApiKeyOperations(context),
  ...createPresentedKey(context),
  ...createAuditOperations(context),
  ...createLeakOperations(context),
  ...createUsageOperations(context),
  ...createKeyCheck(context, authentication),
  ...createTenantLists(context),
  ...createKeyValidation(authentication.authenticator),
  ...createKeyVerification(authentication),
})
