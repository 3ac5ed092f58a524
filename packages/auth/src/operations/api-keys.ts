import { isUuid, uuidv7 } from '@svc/core/internal'
import { insertApiKey, listApiKeys, revokeApiKey } from '../tables/api-keys.ts'
import {
  ExpiryInPast,
  ExpiryTooLate,
  InvalidExpiry,
  KeyNotFound,
  ScopeNotGrantable,
  UnknownScope,
  UserNotFound,
} from '../errors.ts'
import { hashOf, generateKey, prefixOf } from '../key-format.ts'
import type { ApiKey, CreatedApiKey, NewApiKey, Page } from '../schemas.ts'
import { DEFAULT_SCOPES, ungrantable, type Scope } from '../scopes.ts'
import { findUser } from '../tables/users.ts'
import { performedBy, type OperationCall, type OperationContext } from './context.ts'

export function createApiKeyOperations(context: OperationContext) {
  const { db: pool, log, scopes: declared, insertKey, revokeKeys, writeLastUsed } = context
  return {
    async createApiKey(input: NewApiKey, call: OperationCall = {}): Promise<CreatedApiKey> {
      const { userId, label = null, scopes = [...DEFAULT_SCOPES] } = input
      const { caller } = call
      assertDeclared(scopes, declared)
      if (caller !== undefined) assertGrantable(scopes, caller?.scopes ?? [])
      const expiresAt = futureTime(input.expiresAt ?? null)
      if (!isUuid(userId)) throw new UserNotFound()
      const key = generateKey()
      const hash = hashOf(key)
      const keyPrefix = prefixOf(key)
      const row = await insertKey(call.db, hash, (db) =>
        insertApiKey(db, { id: uuidv7(), userId, hash, keyPrefix, label, scopes, expiresAt }),
      )
      if (!row) throw new UserNotFound()
      log.info({ keyId: row.id, userId, scopes, ...performedBy(call) }, 'key created')
      const { revokedAt: _revokedAt, lastUsedAt: _lastUsedAt, ...created } = row
      return { ...created, key }
    },

    async listApiKeys(userId: string, page?: Page): Promise<ApiKey[]> {
      if (!isUuid(userId) || !(await findUser(pool, userId))) throw new UserNotFound()
      await writeLastUsed()
      return listApiKeys(pool, userId, page)
    },

    async revokeApiKey(keyId: string, call: OperationCall = {}): Promise<void> {
      if (!isUuid(keyId)) throw new KeyNotFound()
      await revokeKeys(call.db, async (tx) => {
        const hash = await revokeApiKey(tx, keyId)
        if (hash === undefined) throw new KeyNotFound()
        return [hash]
      })
      log.info({ keyId, ...performedBy(call) }, 'key revoked')
    },
  }
}

function assertDeclared(scopes: readonly Scope[], declared: readonly Scope[]): void {
  const unknown = scopes.find((scope) => !declared.includes(scope))
  if (unknown !== undefined) throw new UnknownScope(unknown, declared.join(', '))
}

function assertGrantable(scopes: readonly Scope[], granter: readonly Scope[]): void {
  const withheld = ungrantable(granter, scopes)
  if (withheld.length > 0) throw new ScopeNotGrantable(withheld.join(', '))
}

/** The first instant that ISO 8601 cannot write with four digits of a year. */
const END_OF_TIME = Date.UTC(10_000, 0, 1)

function futureTime(text: string | null): Date | null {
  if (text === null) return null
  const time = new Date(text)
  // A leap second has the right format, and no place in JavaScript's time.
  if (Number.isNaN(time.getTime())) throw new InvalidExpiry()
  if (time.getTime() >= END_OF_TIME) throw new ExpiryTooLate()
  if (time.getTime() <= Date.now()) throw new ExpiryInPast()
  return time
}
