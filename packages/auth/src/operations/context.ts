/** What the operations need. */
import type { Core, Db } from '@svc/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import type { Authentication } from '../guard/keys/authentication.ts'
import type { Auth } from '../guard/keys/cached-key.ts'
import type { AuthSettings } from '../options.ts'
import { BUILT_IN_SCOPES, type Scope } from '../scopes.ts'
import { findTransactionId } from '../tables/transactions.ts'

/** Second argument of an operation that writes. */
export interface OperationCall {
  /** A transaction of the caller. Without it the operation has one of its own. */
  db?: Db | undefined
  /**
   * Who asks: a key may not grant more than it has. Not given where code of this process asks, which
   * may; `null` where a request without a key does.
   */
  caller?: Auth | null | undefined
}

export interface OperationContext {
  db: Db
  log: FastifyBaseLogger
  /** Scopes that may be granted. */
  scopes: readonly Scope[]
  /**
   * Revokes keys in the transaction `db`, or in one of its own; `revoke` returns their hashes. From
   * the commit on this process refuses them; the others read of it in the row of key changes.
   */
  revokeKeys: (db: Db | undefined, revoke: (tx: Db) => Promise<string[]>) => Promise<string[]>
  /** Writes a key of this hash with `insert`, in the transaction `db` where there is one. */
  insertKey: <Row>(
    db: Db | undefined,
    hash: string,
    insert: (db: Db) => Promise<Row>,
  ) => Promise<Row>
  /** Writes the times of use that this process has recorded. */
  writeLastUsed: () => Promise<void>
}

export function createOperationContext(
  core: Core,
  authentication: Authentication,
  settings: AuthSettings,
): OperationContext {
  const { keyCache, lastUsed, log, uncommitted } = authentication
  return {
    db: core.db,
    log,
    scopes: [...BUILT_IN_SCOPES, ...settings.scopes],
    writeLastUsed: () => lastUsed.flush(),
    async revokeKeys(db, revoke) {
      if (db === undefined) {
        const hashes = await core.transaction(revoke)
        keyCache.forget(hashes)
        return hashes
      }
      const transactionId = await findTransactionId(db)
      const hashes = await revoke(db)
      uncommitted.add(transactionId, hashes)
      return hashes
    },
    async insertKey(db, hash, insert) {
      // Without a transaction of the caller nothing is remembered of a text that did not exist.
      if (db === undefined) return insert(core.db)
      const transactionId = await findTransactionId(db)
      const row = await insert(db)
      uncommitted.add(transactionId, [hash])
      return row
    },
  }
}

/** What the log says of an operation: which key asked for it, and whether it may be rolled back. */
export const performedBy = ({ db, caller }: OperationCall): object => ({
  by: caller ? (caller.keyId ?? 'the bootstrap key') : 'the application',
  ...(db === undefined ? {} : { inTransaction: true }),
})
