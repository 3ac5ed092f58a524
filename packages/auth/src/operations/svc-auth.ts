/** `svc.auth`: the operations for code of this process, which is trusted with all of them. */
import type { NamedActions, OnBehalfOf, OperationOptions } from '@svc/core'
import { callerFor, methodsOf, type Core } from '@svc/core/internal'
import type {
  ApiKey,
  CheckedKey,
  CreatedApiKey,
  ImportedKey,
  ImportResult,
  KeyCheck,
  KeyFilter,
  KeyRotation,
  KeyUpdate,
  ListedApiKey,
  NearLimits,
  NearLimitsQuery,
  NewApiKey,
  NewUser,
  Page,
  TenantOfAuth,
  TenantPage,
  Usage,
  UsageQuery,
  User,
  UserFilter,
  Validation,
  Verification,
  Verified,
} from '../schemas.ts'
import { DEFAULT_SCOPES, type Scope } from '../scopes.ts'
import type { OperationCall } from './context.ts'
import type { Operations } from './operations.ts'

/**
 * The operations on users and keys. Input is checked as that of the management routes, and the
 * functions reject with the same errors. They may grant every declared scope. A field that is
 * `undefined` is as if it were left out.
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
  /**
   * Creates a user. An email is unique within a tenant, whatever its case.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, EmailTaken, Unavailable
   */
  createUser: (user: NewUser, options?: OperationOptions) => Promise<User>
  /** Users, newest first: all of them without a `limit`. @throws InvalidInput, Unavailable */
  listUsers: (filter?: UserFilter) => Promise<User[]>
  /** The user. @throws InvalidInput, UserNotFound, Unavailable */
  getUser: (id: string) => Promise<User>
  /**
   * Revokes the keys of the user as well.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, UserNotFound, Unavailable
   */
  deleteUser: (id: string, options?: OperationOptions) => Promise<void>
  /**
   * Creates a key and returns it with its text, which cannot be read again.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, UserNotFound, UnknownScope, ExpiryInPast,
   *   ExpiryTooLate, InvalidExpiry, InvalidNetwork, KeyLimitReached, ForeignTenant, PlanUnknown, Unavailable
   */
  createApiKey: (key: NewApiKey, options?: OperationOptions) => Promise<CreatedApiKey>
  /** The key, without its text; with `include: 'usage'` what is used of its limits. @throws InvalidInput, KeyNotFound, Unavailable */
  getApiKey: (of: string | { id: string; include?: 'usage' | undefined }) => Promise<ListedApiKey>
  /**
   * The keys of a user, or those that a filter describes; newest first, revoked ones among them, all
   * of them without a `limit`.
   *
   * @throws InvalidInput, UserNotFound (for the id of a user), Unavailable
   * @example
   * const idle = await app.svc.auth.listApiKeys({ tenant: 'acme', unusedSince: '2030-01-01T00:00:00Z' })
   */
  listApiKeys: (
    of: string | KeyFilter,
    page?: Page & Pick<KeyFilter, 'include'>,
  ) => Promise<ListedApiKey[]>
  /**
   * Changes the given fields; `null` resets those that take it. A key that is not `enabled` is refused
   * as a revoked one is, until it is enabled again.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, KeyNotFound, UnknownScope, ExpiryInPast,
   *   ExpiryTooLate, InvalidExpiry, InvalidNetwork, PlanUnknown, Unavailable
   */
  updateApiKey: (change: KeyUpdate, options?: OperationOptions) => Promise<ApiKey>
  /**
   * Makes a successor with the same rights. The old key ends `overlapSeconds` (86400 by default) from
   * now, or earlier where it would have ended before.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, KeyNotFound, AlreadyRotated, Unavailable
   */
  rotateApiKey: (rotation: KeyRotation, options?: OperationOptions) => Promise<CreatedApiKey>
  /**
   * Makes keys of another system valid here, by hashes of their texts: up to 10 000 in one transaction. An
   * entry whose hash a key has already is skipped, also where that key is revoked, so that a script may be
   * run again. An entry that is wrong fails the whole call, with its index and its field. Imported keys count
   * for no limit on numbers, and make no `svc.key.created`.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, UnknownScope, ExpiryInPast, ExpiryTooLate,
   *   InvalidExpiry, LifetimeTooLong, InvalidNetwork, Unavailable
   * @example
   * const { imported, skipped } = await app.svc.auth.importApiKeys(
   *   rows.map((row) => ({ userId: row.user_id, sha256: row.key_hash, label: row.name })),
   * )
   */
  importApiKeys: (keys: readonly ImportedKey[], options?: OperationOptions) => Promise<ImportResult>
  /**
   * Once it is committed, this process refuses the key at once, the others within a second.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, KeyNotFound, Unavailable
   */
  revokeApiKey: (keyId: string, options?: OperationOptions) => Promise<void>
  /**
   * Tells that the plan of a tenant has changed: every process asks `planOf` again within a second of the
   * commit, this one at once where it is given no `db`. What was refused under the old plan is decided by the new one.
   *
   * @throws InvalidInput, InvalidOption, NoTransaction, Unavailable
   * @example
   * await app.svc.transaction(async (db) => {
   *   await db.query('update customers set plan = $2 where name = $1', ['acme', 'pro'])
   *   await app.svc.auth.planChanged('acme', { db })
   * })
   */
  planChanged: (tenant: string, options?: OperationOptions) => Promise<void>
  /**
   * Does not reject for a key that is not valid, and counts no failed attempt.
   *
   * @throws AuthUnavailable where keys cannot be checked
   */
  validateApiKey: (rawKey: string) => Promise<Validation>
  /**
   * Decides about a key as the guard does: it counts failed attempts and uses. `code` is that of the
   * guard's answer, `null` for a valid key.
   *
   * @throws InvalidInput, PlanUnknown, AuthUnavailable where keys cannot be checked
   * @example
   * const { valid, code, remaining } = await app.svc.auth.verifyApiKey({ key, scopes: ['read'] })
   */
  verifyApiKey: (verification: Verification) => Promise<Verified>
  /**
   * Whether a key is valid, by its id, and what it holds: for something that it began and that goes on
   * without its text, such as a session. It counts nothing. A key with `allowedIps` needs `ip`.
   *
   * @throws InvalidInput, Unavailable
   */
  checkApiKey: (check: KeyCheck) => Promise<CheckedKey>
  /**
   * Stands for the bootstrap key, which has no id that `checkApiKey` could take: a text that stays the
   * same for a salt while that key does, and `null` where there is no such key. The salt must be
   * secret, and long.
   *
   * @throws InvalidInput, AuthUnavailable where the key cannot be read yet
   */
  sealBootstrapKey: (salt: string) => Promise<string | null>
  /**
   * The valid scopes of a key: scopes, and roles as `role:<name>`. With `grantable`, those that the
   * caller of `as` may give to a key, and namespaces of the host's scopes such as `projects:*`.
   *
   * @throws InvalidInput, Unavailable
   */
  listScopes: (filter?: { grantable?: boolean | undefined }) => Promise<string[]>
  /**
   * The tenants that have users, by name: all of them without a `limit`. What each has is counted up to
   * 1000.
   *
   * @throws InvalidInput, Unavailable
   */
  listTenants: (page?: TenantPage) => Promise<TenantOfAuth[]>
  /**
   * How many requests were made with keys, and what came of them, by the hour or day of UTC: of all
   * keys, of a tenant (`''` for the operator's) or of one key. At most 1000 hours or days.
   *
   * @throws InvalidInput, KeyNotFound, InvalidUsageSpan, Unavailable
   * @example
   * const { totals } = await app.svc.auth.getUsage({ tenant: 'acme', by: 'day' })
   */
  getUsage: (query?: UsageQuery) => Promise<Usage>
  /**
   * Which keys and which tenants have used most of a limit or quota: from 80 % on, or from the share `over`
   * on; the highest first, at most 100 of each. Of each the 1000 that have used most are compared.
   *
   * @throws InvalidInput, PlanUnknown, Unavailable
   * @example
   * const { keys } = await app.svc.auth.nearLimits({ over: 0.9 })
   */
  nearLimits: (query?: NearLimitsQuery) => Promise<NearLimits>
  /**
   * These operations on behalf of a caller. Users and keys of other tenants do not exist there,
   * and the audit names the actor. For a page of the host's own.
   *
   * @throws InvalidInput where the tenant is neither a tenant nor `null`
   * @example
   * const keys = await app.svc.auth.as({ tenant: 'acme' }).listApiKeys({ state: 'active' })
   */
  as: (who: ActingFor) => Omit<AuthOperations, 'as'>
}

/**
 * For whom `svc.auth.as` acts.
 *
 * @example
 * const acme = app.svc.auth.as({ tenant: 'acme', scopes: ['projects:read'] })
 */
export interface ActingFor extends OnBehalfOf {
  /**
   * Scopes that keys may be given. Where the actor is a key, it may grant what it has, whatever is
   * set here. @default those of the operator: all; of a tenant: read and write
   */
  scopes?: readonly Scope[] | undefined
  /**
   * Whether it may loosen what others have set on a key: its limits, its quota, its addresses, its
   * expiry, and that it is disabled. Without, it may tighten these, and take back what such a caller has
   * tightened. @default true
   */
  mayLoosen?: boolean | undefined
}

declare module '@svc/core' {
  interface Svc {
    /** Users and API keys. */
    auth: AuthOperations
  }
  interface SvcActions extends NamedActions<'__svc.auth', AuthOperations> {}
}

export const createAuthOperations = (
  core: Core,
  { methods: operations }: Operations,
): AuthOperations => {
  const methods = (by: OperationCall): Omit<AuthOperations, 'as'> => {
    const made = methodsOf(core, 'svc.auth', operations, by)
    const { listKeysOfUser, listApiKeys, importApiKeys, ...others } = made
    return {
      ...others,
      importApiKeys: async (keys, options) =>
        importApiKeys({ keys: keys as (typeof ImportedKey.static)[] }, options),
      // Not all keys where what a host asks for is undefined.
      listApiKeys: async (of: unknown, page: Page & Pick<KeyFilter, 'include'> = {}) =>
        typeof of === 'string'
          ? listKeysOfUser({ ...page, userId: of })
          : listApiKeys((of ?? null) as KeyFilter),
    }
  }
  return { ...methods({}), as: (who) => methods(callOn(who)) }
}

function callOn(who: ActingFor): OperationCall {
  const { origin } = callerFor(who)
  const { tenant, mayLoosen = true } = who
  const { keyId, userId } = origin.actor
  const isTrusted = tenant === null && keyId === null && who.scopes === undefined
  if (isTrusted) return { origin, mayLoosen }
  const scopes = who.scopes ?? DEFAULT_SCOPES
  return { origin, mayLoosen, caller: { keyId, userId, tenant, scopes, bootstrap: false } }
}
