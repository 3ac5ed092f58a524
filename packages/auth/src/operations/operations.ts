import type { Authenticator } from '../guard/keys/authenticator.ts'
import { createApiKeyOperations } from './api-keys.ts'
import type { OperationContext } from './context.ts'
import { createUserOperations } from './users.ts'
import { createKeyValidation } from './validate-api-key.ts'

export type Operations = ReturnType<typeof createOperations>

/**
 * What can be done with users and keys. Routes check the input before; `svc.auth` and the named
 * actions add a check of their own. Ids need not be UUIDs.
 */
export const createOperations = (context: OperationContext, authenticator: Authenticator) => ({
  ...createUserOperations(context),
  ...createApiKeyOperations(context),
  ...createKeyValidation(authenticator),
})
