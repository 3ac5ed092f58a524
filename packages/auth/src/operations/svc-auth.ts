/** `svc.auth`: the operations for code of this process, which is trusted with all of them. */
import { Type } from '@sinclair/typebox'
import type { OperationOptions } from '@svc/core'
import { readOperation, writeOperation } from '@svc/core/internal'
import {
  KeyPage,
  NewApiKey,
  NewUser,
  Page,
  type ApiKey,
  type CreatedApiKey,
  type User,
  type Validation,
} from '../schemas.ts'
import type { Operations } from './operations.ts'

/**
 * The operations on users and keys. Input is checked as that of the management routes, and the
 * functions reject with the same errors. They may grant every declared scope.
 *
 * What is written with `{ db }` is committed and rolled back with that transaction. It holds a lock
 * on the row of key changes from the first revocation in it to its end, for which every other
 * revocation waits: keep such a transaction short.
 *
 * @example
 * const { key } = await app.svc.transaction(async (db) => {
 *   const user = await app.svc.auth.createUser({ email: 'ada@example.com', name: 'Ada' }, { db })
 *   return app.svc.auth.createApiKey({ userId: user.id, scopes: ['read'] }, { db })
 * })
 */
export interface AuthOperations {
  /** @throws InvalidInput, InvalidOption, NoTransaction, EmailTaken, Unavailable */
  createUser: (user: NewUser, options?: OperationOptions) => Promise<User>
  /** Users, newest first: all of them without a `limit`. @throws InvalidInput, Unavailable */
  listUsers: (page?: Page) => Promise<User[]>
  /** @throws InvalidInput, UserNotFound, Unavailable */
  getUser: (id: string) => Promise<User>
  /**
   * Revokes the keys of the user as well.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, UserNotFound, Unavailable
   */
  deleteUser: (id: string, options?: OperationOptions) => Promise<void>
  /**
   * @throws InvalidInput, InvalidOption, NoTransaction, UserNotFound, UnknownScope, ExpiryInPast,
   *   ExpiryTooLate, InvalidExpiry, Unavailable
   */
  createApiKey: (key: NewApiKey, options?: OperationOptions) => Promise<CreatedApiKey>
  /**
   * The keys of a user, newest first and revoked ones among them: all of them without a `limit`.
   *
   * @throws InvalidInput, UserNotFound, Unavailable
   */
  listApiKeys: (userId: string, page?: Page) => Promise<ApiKey[]>
  /**
   * Once it is committed, this process refuses the key at once, the others within a second.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, KeyNotFound, Unavailable
   */
  revokeApiKey: (keyId: string, options?: OperationOptions) => Promise<void>
  /**
   * Does not reject for a key that is not valid, and counts no failed attempt.
   *
   * @throws Unavailable (of this package) where keys cannot be checked
   */
  validateApiKey: (rawKey: string) => Promise<Validation>
}

declare module '@svc/core' {
  interface Svc {
    /** Users and API keys. */
    auth: AuthOperations
  }
}

const Id = Type.String()

export function createAuthOperations(operations: Operations): AuthOperations {
  const listUsers = readOperation(Page, (page) => operations.listUsers(page))
  const listApiKeys = readOperation(KeyPage, ({ userId, ...page }) =>
    operations.listApiKeys(userId, page),
  )
  return {
    createUser: writeOperation('svc.auth.createUser', NewUser, (user, db) =>
      operations.createUser(user, { db }),
    ),
    listUsers: (page = {}) => listUsers(page),
    getUser: readOperation(Id, (id) => operations.getUser(id)),
    deleteUser: writeOperation('svc.auth.deleteUser', Id, (id, db) =>
      operations.deleteUser(id, { db }),
    ),
    createApiKey: writeOperation('svc.auth.createApiKey', NewApiKey, (key, db) =>
      operations.createApiKey(key, { db }),
    ),
    listApiKeys: (userId, page = {}) => listApiKeys({ ...page, userId }),
    revokeApiKey: writeOperation('svc.auth.revokeApiKey', Id, (id, db) =>
      operations.revokeApiKey(id, { db }),
    ),
    validateApiKey: (rawKey) => operations.validateApiKey(rawKey),
  }
}
