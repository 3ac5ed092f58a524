/** What the operations stand on. */
import type { Core, Db } from '@svc/core/kit'
import type { FastifyBaseLogger } from 'fastify'
import { KEYS_CHANGED, raiseEpoch } from '../epoch.ts'
import type { Keys } from '../guard/keys.ts'
import type { Auth } from '../guard/known-key.ts'
import type { AuthSettings } from '../options.ts'
import { BUILT_IN_SCOPES, type Scope } from '../scopes.ts'

export interface Ground {
  db: Db
  log: FastifyBaseLogger
  /** Scopes that may be granted. */
  scopes: readonly Scope[]
  /**
   * Runs a change of keys in one transaction with the epoch that tells of it. When it resolves, this
   * process has forgotten what it knew of the keys that changed.
   */
  changeKeys: <Result extends { changed: readonly string[] }>(
    change: (tx: Db) => Promise<Result>,
  ) => Promise<Result>
  /** Writes the times of use that this process has noted. */
  writeUses: () => Promise<void>
}

export function makeGround(core: Core, keys: Keys, settings: AuthSettings): Ground {
  return {
    db: core.svc.database,
    log: keys.log,
    scopes: [...BUILT_IN_SCOPES, ...settings.scopes],
    writeUses: () => keys.lastUsed.flush(),
    async changeKeys(change) {
      const result = await core.transaction(async (tx) => {
        const done = await change(tx)
        if (done.changed.length > 0) {
          await core.signals.send(KEYS_CHANGED, '', tx)
          await raiseEpoch(tx, done.changed)
        }
        return done
      })
      keys.keyring.drop(result.changed)
      return result
    },
  }
}

/** Who did it, for the log: a key, or code of this process. */
export const actor = (caller: Auth | null | undefined): string =>
  caller ? (caller.keyId ?? 'the bootstrap key') : 'an action'
