/** What the operations stand on. */
import type { Core, Db } from '@svc/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import type { Keys } from '../guard/keys/open-keys.ts'
import type { Auth } from '../guard/keys/cached-key.ts'
import type { AuthSettings } from '../options.ts'
import { BUILT_IN_SCOPES, type Scope } from '../scopes.ts'

export interface Ground {
  db: Db
  log: FastifyBaseLogger
  /** Scopes that may be granted. */
  scopes: readonly Scope[]
  /**
   * Revokes keys, told by their digests, in one transaction. When it resolves, this process has
   * forgotten what it knew of them; the others hear of it by the epoch.
   */
  revokeKeys: (revoke: (tx: Db) => Promise<string[]>) => Promise<string[]>
  /** Writes the times of use that this process has noted. */
  writeUses: () => Promise<void>
}

export function makeGround(core: Core, keys: Keys, settings: AuthSettings): Ground {
  return {
    db: core.db,
    log: keys.log,
    scopes: [...BUILT_IN_SCOPES, ...settings.scopes],
    writeUses: () => keys.lastUsed.flush(),
    async revokeKeys(revoke) {
      const digests = await core.transaction(revoke)
      keys.keyring.drop(digests)
      return digests
    },
  }
}

/** Who did it, for the log: a key, or code of this process. */
export const actor = (caller: Auth | null | undefined): string =>
  caller ? (caller.keyId ?? 'the bootstrap key') : 'an action'
