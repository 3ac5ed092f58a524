import { withKeyDemand } from '../guard/policy/policy-map.ts'
import { PresentedKey } from '../schemas.ts'
import { InvalidKey, MissingKey } from '../errors.ts'
import { findApiKey } from '../tables/api-keys.ts'
import { operation, type OperationContext } from './context.ts'
import { DEFAULT_FIELDS } from './key-values.ts'
import { Type } from '@sinclair/typebox'

/**
 * The key of a request. Its scopes are those that it holds: roles are resolved. The last use is
 * as it was written last: every key may call this, and a call must not cause a write.
 */
export const presentedKey = ({ readDb }: OperationContext) =>
  operation({
    input: Type.Object({}),
    output: PresentedKey,
    routes: {
      'GET /me': { summary: 'Get the presented key', config: withKeyDemand({}, 'any-key') },
    },
    async run({ caller }) {
      if (!caller) throw new MissingKey()
      const { keyId, userId, tenant, bootstrap } = caller
      const scopes = [...caller.scopes]
      if (keyId === null) return { ...WITHOUT_ROW, userId, tenant, bootstrap, scopes }
      const row = await findApiKey(readDb, keyId, null)
      if (!row) throw new InvalidKey()
      return { ...row, keyId, bootstrap, scopes }
    },
  })

const WITHOUT_ROW = {
  ...DEFAULT_FIELDS,
  id: null,
  keyId: null,
  keyPrefix: null,
  createdAt: null,
  revokedAt: null,
  lastUsedAt: null,
  replaces: null,
  replacedBy: null,
}
