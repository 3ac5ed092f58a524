/**
 * Checks a key by its id, for work that continues without the text of the key. Unlike
 * verify-key-for-services.ts it counts nothing: no request presents the key.
 */
import { isUuid, reaches } from '@svc/core/internal'
import { createNetworks } from '../addresses.ts'
import { AuthUnavailable } from '../errors.ts'
import type { Authentication } from '../guard/keys/authentication.ts'
import { INVALID_KEY, IP_NOT_ALLOWED } from '../guard/refusals.ts'
import { isRestricted } from '../restrictions.ts'
import type { ApiKey, CheckedKey, KeyCheck } from '../schemas.ts'
import { findApiKey } from '../tables/api-keys.ts'
import { reachOfCall, type OperationCall, type OperationContext } from './context.ts'

export const createKeyCheck = (
  { db, scopes: names }: OperationContext,
  { bootstrapKey }: Pick<Authentication, 'bootstrapKey'>,
) => ({
  /** It counts nothing, because no request presented the key. */
  async checkApiKey({ id, ip }: KeyCheck, call: OperationCall = {}): Promise<CheckedKey> {
    const key = isUuid(id) ? await findApiKey(db, id, reachOfCall(call)) : undefined
    if (!key || !isKeyValid(key)) return NOT_VALID
    const { userId, tenant, expiresAt } = key
    const held = names.resolve(key.scopes)
    const comesFromElsewhere = key.allowedIps !== null && !createNetworks(key.allowedIps)(ip)
    return {
      valid: !comesFromElsewhere,
      code: comesFromElsewhere ? IP_NOT_ALLOWED.code : null,
      keyId: id,
      userId,
      tenant,
      scopes: held,
      managementScopes: names.openingOurs(held),
      expiresAt,
      isRestricted: isRestricted(key),
    }
  },

  async sealBootstrapKey(salt: string, call: OperationCall = {}): Promise<string | null> {
    // It is the operator's.
    if (!reaches(reachOfCall(call), null)) return null
    const seal = bootstrapKey.seal(salt)
    if (seal === undefined) throw new AuthUnavailable()
    return seal
  },
})

export const isKeyValid = ({ revokedAt, enabled, expiresAt }: ApiKey): boolean =>
  revokedAt === null && enabled && (expiresAt === null || Date.parse(expiresAt) > Date.now())

const NOT_VALID: CheckedKey = {
  valid: false,
  code: INVALID_KEY.code,
  keyId: null,
  userId: null,
  tenant: null,
  scopes: [],
  managementScopes: [],
  expiresAt: null,
  isRestricted: false,
}
