import type { Recognizer } from '../guard/keys/authenticator.ts'
import { apiKeyOperations } from './api-keys.ts'
import type { Ground } from './context.ts'
import { userOperations } from './users.ts'
import { keyValidation } from './validate-api-key.ts'

export type Operations = ReturnType<typeof makeOperations>

/** What can be done with users and keys, for routes and actions alike. Ids need not be UUIDs. */
export const makeOperations = (ground: Ground, recognizer: Recognizer) => ({
  ...userOperations(ground),
  ...apiKeyOperations(ground),
  ...keyValidation(recognizer),
})
