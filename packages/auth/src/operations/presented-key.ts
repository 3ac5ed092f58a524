import type { PresentedKey } from '../schemas.ts'
import type { Auth } from '../guard/keys/cached-key.ts'
import { InvalidKey } from '../errors.ts'
import { findApiKey } from '../tables/api-keys.ts'
import type { OperationContext } from './context.ts'

export const createPresentedKey = ({ readDb }: OperationContext) => ({
  /**
   * The key of a request. Its scopes are those that it holds: roles are resolved. The last use is
   * as it was written last: every key may call this, and a call must not cause a write.
   */
  async getPresentedKey(auth: Auth): Promise<PresentedKey> {
    const { keyId, userId, tenant, bootstrap } = auth
    const scopes = [...auth.scopes]
    if (keyId === null) return { ...WITHOUT_ROW, userId, tenant, bootstrap, scopes }
    const row = await findApiKey(readDb, keyId, null)
    if (!row) throw new InvalidKey()
    return { ...row, keyId, bootstrap, scopes }
  },
})

const WITHOUT_ROW = {
  id: null,
  keyId: null,
  keyPrefix: null,
  label: null,
  expiresAt: null,
  enabled: true,
  metadata: null,
  allowedIps: null,
  limits: null,
  quota: null,
  createdAt: null,
  revokedAt: null,
  lastUsedAt: null,
  replaces: null,
  replacedBy: null,
}
