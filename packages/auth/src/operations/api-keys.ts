/** The operations on keys. What all of them share about the fields of a key is in `key-values.ts`. */
import { ForeignTenant } from '@svc/core'
import {
  changesOf,
  isUuid,
  narrowedReach,
  uuidv7,
  type AuditRecord,
  type Db,
} from '@svc/core/internal'
import {
  AlreadyRotated,
  InvalidKey,
  KeyLimitReached,
  KeyNotFound,
  UserNotFound,
} from '../errors.ts'
import { DEFAULT_OVERLAP_SECONDS, type KeyFields } from '../key-fields.ts'
import { generateKey, hashOf, prefixOf } from '../key-format.ts'
import { assertMayGive, isWider, type Giver } from '../restrictions.ts'
import type {
  ApiKey,
  CreatedApiKey,
  KeyChanges,
  KeyFilter,
  NewApiKey,
  Page,
  User,
} from '../schemas.ts'
import {
  countKeysOfTenant,
  findApiKey,
  insertApiKey,
  listApiKeys,
  lockApiKey,
  lockKeysOfTenant,
  replaceApiKey,
  revokeApiKey,
  updateApiKey,
  type LockedKey,
} from '../tables/api-keys.ts'
import { findUser, lockUser } from '../tables/users.ts'
import {
  audit,
  performedBy,
  reachOfCall,
  type OperationCall,
  type OperationContext,
} from './context.ts'
import { checkedFields, fieldsOf } from './key-values.ts'
import { revocationOf } from './users.ts'

export interface RotationInput {
  overlapSeconds?: number
}

export function createApiKeyOperations(context: OperationContext) {
  const { db: pool, log, scopes: names, settings, changeKeys, writeLastUsed } = context

  /** The key that asks, read anew: what it may give is what it has now. */
  async function giverOf(tx: Db, { caller }: OperationCall): Promise<Giver | undefined> {
    if (caller === undefined) return undefined
    if (caller === null) return { ...NOBODY, scopes: [] }
    if (caller.keyId === null) return { ...NOBODY, scopes: [...caller.scopes] }
    const row = await findApiKey(tx, caller.keyId, null)
    if (!row) throw new InvalidKey()
    return row
  }

  /** @throws KeyNotFound where the caller reaches no such key, or it is revoked */
  async function lockedKey(tx: Db, id: string, call: OperationCall): Promise<LockedKey> {
    const locked = isUuid(id) ? await lockApiKey(tx, id, reachOfCall(call)) : undefined
    if (!locked) throw new KeyNotFound()
    return locked
  }

  /** @throws KeyLimitReached */
  async function assertRoomFor(tx: Db, { tenant }: User): Promise<void> {
    const { maxKeysPerTenant } = settings
    if (maxKeysPerTenant === undefined || tenant === null) return
    await lockKeysOfTenant(tx, tenant)
    if ((await countKeysOfTenant(tx, tenant)) < maxKeysPerTenant) return
    throw new KeyLimitReached(String(maxKeysPerTenant))
  }

  async function insert(tx: Db, userId: string, fields: KeyFields, replaces: string | null) {
    const key = generateKey(settings.keyPrefix)
    const hash = hashOf(key)
    const keyPrefix = prefixOf(key)
    const id = uuidv7()
    const row = await insertApiKey(tx, { id, userId, hash, keyPrefix, fields, replaces })
    return { row, hash, key }
  }

  async function rotate(
    id: string,
    { overlapSeconds = DEFAULT_OVERLAP_SECONDS }: RotationInput,
    call: OperationCall,
    isOwn: boolean,
  ): Promise<CreatedApiKey> {
    const { old, made } = await changeKeys(call, async (tx) => {
      const user = await userOf(tx, id, call)
      const { key: locked, hash, isExpired } = await lockedKey(tx, id, call)
      if (isExpired || !user) throw new KeyNotFound()
      if (locked.replacedBy !== null) throw new AlreadyRotated(locked.replacedBy)
      // The answer has the text of the new key, which can do all that the old one can.
      const giver = isOwn ? undefined : await giverOf(tx, call)
      if (giver) assertMayGive(names, giver, locked)
      const inserted = await insert(tx, locked.userId, fieldsOf(locked), locked.id)
      const replaced = await replaceApiKey(tx, id, inserted.row.id, overlapSeconds)
      const successor = { replacedBy: null, expiresAt: locked.expiresAt }
      await audit(tx, call, {
        ...recordOf('key.rotate', locked, successor, {
          replacedBy: inserted.row.id,
          expiresAt: replaced.expiresAt,
        }),
      })
      const result = { old: replaced, made: inserted }
      return { hashes: [hash, inserted.hash], result }
    })
    const details = { keyId: old.id, replacedBy: made.row.id, ...performedBy(call) }
    log.info(details, 'key rotated')
    return shownOnce(made.row, made.key)
  }

  /** The row of the user is locked before that of the key, as by a deletion of the user. */
  async function userOf(tx: Db, id: string, call: OperationCall): Promise<User | undefined> {
    const key = isUuid(id) ? await findApiKey(tx, id, reachOfCall(call)) : undefined
    return key && (await lockUser(tx, key.userId, reachOfCall(call)))
  }

  return {
    async createApiKey(input: NewApiKey, call: OperationCall = {}): Promise<CreatedApiKey> {
      const { userId, tenant, ...given } = input
      const reach = reachOfCall(call)
      if (reach !== null && tenant !== undefined && tenant !== reach) throw new ForeignTenant()
      const fields = checkedFields(names, given)
      if (!isUuid(userId)) throw new UserNotFound()
      const { row, key } = await changeKeys(call, async (tx) => {
        const giver = await giverOf(tx, call)
        if (giver) assertMayGive(names, giver, { ...fields, id: null })
        const user = await lockUser(tx, userId, reach)
        if (!user) throw new UserNotFound()
        if (tenant !== undefined && tenant !== user.tenant) throw new ForeignTenant()
        await assertRoomFor(tx, user)
        const made = await insert(tx, userId, fields, null)
        await audit(
          tx,
          call,
          recordOf('key.create', made.row, {}, { userId, ...fieldsOf(made.row), key: made.key }),
        )
        return { hashes: [made.hash], result: made }
      })
      const { id: keyId, scopes } = row
      log.info({ keyId, userId, scopes, ...performedBy(call) }, 'key created')
      return shownOnce(row, key)
    },

    /** `of`: the id of a user, who must exist, or a filter. */
    async listApiKeys(
      of: string | KeyFilter,
      page: Page = {},
      call: OperationCall = {},
    ): Promise<ApiKey[]> {
      const reach = reachOfCall(call)
      if (typeof of === 'string') {
        if (!isUuid(of) || !(await findUser(pool, of, reach))) throw new UserNotFound()
        await writeLastUsed()
        return listApiKeys(pool, reach, { ...page, userId: of })
      }
      const { tenant, ...filter } = of
      const narrowed = narrowedReach(reach, tenant)
      const isNobody = filter.userId !== undefined && !isUuid(filter.userId)
      if (narrowed === undefined || isNobody) return []
      await writeLastUsed()
      return listApiKeys(pool, narrowed, filter)
    },

    async getApiKey(id: string, call: OperationCall = {}): Promise<ApiKey> {
      if (!isUuid(id)) throw new KeyNotFound()
      await writeLastUsed()
      const key = await findApiKey(pool, id, reachOfCall(call))
      if (!key) throw new KeyNotFound()
      return key
    },

    async updateApiKey(id: string, changes: KeyChanges, call: OperationCall = {}): Promise<ApiKey> {
      const key = await changeKeys(call, async (tx) => {
        const { key: before, hash } = await lockedKey(tx, id, call)
        const wanted = { ...fieldsOf(before), ...checkedFields(names, changes, before) }
        const giver = await giverOf(tx, call)
        if (giver && isWider(names, before, wanted)) {
          assertMayGive(names, giver, { ...wanted, id })
        }
        const after = await updateApiKey(tx, id, Object.keys(changes), wanted)
        const record = recordOf('key.update', after, fieldsOf(before), fieldsOf(after))
        if (Object.keys(record.changes).length > 0) await audit(tx, call, record)
        return { hashes: [hash], result: after }
      })
      log.info({ keyId: id, ...performedBy(call) }, 'key changed')
      return key
    },

    rotateApiKey: (id: string, input: RotationInput = {}, call: OperationCall = {}) =>
      rotate(id, input, call, false),

    /** A key rotates itself: its successor is as restricted as it is. */
    async rotateOwnKey(input: RotationInput, call: OperationCall): Promise<CreatedApiKey> {
      const keyId = call.caller?.keyId ?? null
      if (keyId === null) throw new KeyNotFound()
      return rotate(keyId, input, call, true)
    },

    async revokeApiKey(keyId: string, call: OperationCall = {}): Promise<void> {
      await changeKeys(call, async (tx) => {
        const { key, hash } = await lockedKey(tx, keyId, call)
        await revokeApiKey(tx, keyId)
        await audit(tx, call, revocationOf(keyId, key.tenant))
        return { hashes: [hash], result: undefined }
      })
      log.info({ keyId, ...performedBy(call) }, 'key revoked')
    },
  }
}

/** A caller without a row. */
const NOBODY = { id: null, tenant: null, expiresAt: null, allowedIps: null }

function shownOnce(row: ApiKey, key: string): CreatedApiKey {
  const { revokedAt: _revoked, lastUsedAt: _used, replacedBy: _replaced, ...created } = row
  return { ...created, key }
}

const recordOf = (
  action: string,
  { id, tenant }: ApiKey,
  before: object,
  after: object,
): AuditRecord => ({
  action,
  tenant,
  target: { kind: 'key', id },
  changes: changesOf({ ...before }, { ...after }, ['key']),
})
