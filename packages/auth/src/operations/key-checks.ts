/**
 * The ways to decide about a key outside of the guard. Only `verifyApiKey` counts, since another service
 * presents the key that a request has presented to it.
 */
import { Type } from '@sinclair/typebox'
import { InvalidInput } from '@svc/core'
import { Anything, isUuid, reaches, shapeOf, withoutGate, type Db } from '@svc/core/internal'
import { isIP } from 'node:net'
import { createNetworks } from '../addresses.ts'
import { AuthUnavailable, InvalidKey, PlanUnknown } from '../errors.ts'
import { type CachedKey, isFailure, meets } from '../guard/keys/key-cache.ts'
import type { Authentication } from '../guard/keys/authentication.ts'
import { NO_SCOPE, requirement, type Requirement } from '../guard/policy/route-policy.ts'
import {
  BLOCKED,
  INVALID_KEY,
  IP_NOT_ALLOWED,
  QUOTA_EXCEEDED,
  RATE_LIMITED,
  type Refusal,
} from '../guard/refusals.ts'
import { hashOf, LONGEST_KEY } from '../key-format.ts'
import { isRestricted, type Powers } from '../restrictions.ts'
import {
  KeyCheck,
  Verification,
  Verified,
  type ApiKey,
  type CheckedKey,
  type Validation,
} from '../schemas.ts'
import { findApiKey } from '../tables/api-keys.ts'
import type { UsageOutcome } from '../tables/usage.ts'
import { operation, reachOfCall, type OperationCall, type OperationContext } from './context.ts'

const Salt = Type.String({ minLength: 32, maxLength: 1000 })

export function keyChecks({ db, scopes: names }: OperationContext, authentication: Authentication) {
  const { authenticator, lastUsed, allowances, usage, bootstrapKey } = authentication

  /** Takes what the request costs. @throws AuthUnavailable */
  async function exceeded({ limits }: CachedKey, cost: number): Promise<Refusal | undefined> {
    if (limits === null) return undefined
    const decision = await allowances.check(limits, cost)
    if (decision === 'passed') return undefined
    if (decision === 'unavailable') throw new AuthUnavailable()
    return decision.terms.isQuota ? QUOTA_EXCEEDED : RATE_LIMITED
  }

  return {
    /** Counts failed attempts and uses, since for the other service this is the guard. */
    verifyApiKey: operation({
      input: Verification,
      output: Verified,
      routes: {
        'POST /verify': {
          summary: 'Verify a key for another service, which refuses what is not valid',
          config: withoutGate({ scopes: ['auth:verify'] }),
        },
      },
      async run(by, { key, scopes = [], ip, cost = 1 }) {
        if (ip !== undefined && isIP(ip) === 0)
          throw new InvalidInput('body/ip must be an IP address')
        const hash = key.length > LONGEST_KEY ? '' : hashOf(key)
        const result = await authenticator.authenticate(key, hash).catch((error: unknown) => {
          throw error instanceof PlanUnknown ? error : new AuthUnavailable()
        })
        if (isFailure(result) && result.verdict === 'expired' && result.keyId !== null) {
          usage?.countOnce(result.keyId, 'expired')
        }
        if (isFailure(result)) return unknown(result.verdict === 'blocked' ? BLOCKED : INVALID_KEY)
        if (!reaches(reachOfCall(by), result.auth.tenant)) return unknown(INVALID_KEY)
        lastUsed.record(result)
        const required = scopes.length > 0 ? requirement(scopes) : NO_SCOPE
        const forbidden = refusalOf(result, required, ip)
        const refusal = forbidden ?? (await exceeded(result, cost))
        if (result.usage !== null) usage?.count(result.usage, outcomeOf(refusal))
        const { limits } = result
        const remaining =
          limits &&
          (forbidden || (cost === 0 && limits.terms.hasQuota)
            ? await allowances.remainingOfAll(limits)
            : allowances.remaining(limits))
        const valid = refusal === undefined
        return { ...factsOf(result), valid, code: refusal?.code ?? null, remaining }
      },
    }),

    /** Who holds the key: neither scopes nor addresses are checked. */
    validateApiKey: operation({
      input: Anything,
      output: shapeOf<Validation>(),
      async run(by, rawKey) {
        if (typeof rawKey !== 'string') return { ...INVALID, scopes: [] }
        const result = await authenticator.find(rawKey, hashOf(rawKey)).catch(() => {
          throw new AuthUnavailable()
        })
        if (isFailure(result) || !reaches(reachOfCall(by), result.auth.tenant)) {
          return { ...INVALID, scopes: [] }
        }
        return { valid: true, ...result.auth, scopes: [...result.auth.scopes] }
      },
    }),

    /** For work that goes on without the text of the key. */
    checkApiKey: operation({
      input: KeyCheck,
      output: shapeOf<CheckedKey>(),
      async run(by, { id, ip }) {
        const key = isUuid(id) ? await findApiKey(db, id, reachOfCall(by)) : undefined
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
    }),

    sealBootstrapKey: operation({
      input: Salt,
      output: shapeOf<string | null>(),
      async run(by, salt) {
        // The bootstrap key is the operator's: a caller with a tenant does not reach it.
        if (!reaches(reachOfCall(by), null)) return null
        const seal = bootstrapKey.seal(salt)
        if (seal === undefined) throw new AuthUnavailable()
        return seal
      },
    }),
  }
}

export const isKeyValid = ({ revokedAt, enabled, expiresAt }: ApiKey): boolean =>
  revokedAt === null && enabled && (expiresAt === null || Date.parse(expiresAt) > Date.now())

/** A caller without a row has no restrictions. */
const NO_RESTRICTIONS = { expiresAt: null, allowedIps: null, limits: null, quota: null }

/**
 * The powers of the caller's key, read again: it may grant only what it has at this moment. `undefined`
 * for the application itself, which may grant everything.
 *
 * @throws InvalidKey
 */
export async function grantorOf(tx: Db, { caller }: OperationCall): Promise<Powers | undefined> {
  if (caller === undefined) return undefined
  if (caller === null) return { ...NO_RESTRICTIONS, scopes: [] }
  if (caller.keyId === null) return { ...NO_RESTRICTIONS, scopes: [...caller.scopes] }
  const row = await findApiKey(tx, caller.keyId, null)
  // It may have been revoked since the guard of this process read it.
  if (!row || !isKeyValid(row)) throw new InvalidKey()
  return row
}

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

const INVALID: Validation = {
  valid: false,
  userId: null,
  tenant: null,
  bootstrap: false,
  scopes: [],
  keyId: null,
}

/** A key that is bound to addresses is refused where no address is given. */
function refusalOf(
  key: CachedKey,
  required: Requirement,
  ip: string | undefined,
): Refusal | undefined {
  const { mayComeFrom = null } = key.checks ?? {}
  if (mayComeFrom !== null && !mayComeFrom(ip)) return IP_NOT_ALLOWED
  return meets(key, required) ? undefined : required.refusal
}

function outcomeOf(refusal: Refusal | undefined): UsageOutcome {
  if (refusal === undefined) return 'allowed'
  if (refusal === RATE_LIMITED) return 'rate_limited'
  return refusal === QUOTA_EXCEEDED ? 'quota_exceeded' : 'forbidden'
}

const factsOf = ({
  auth,
  expiresAt,
}: CachedKey): Omit<Verified, 'valid' | 'code' | 'remaining'> => ({
  keyId: auth.keyId,
  userId: auth.userId,
  tenant: auth.tenant,
  scopes: [...auth.scopes],
  expiresAt: expiresAt === null ? null : isoOf(expiresAt),
})

/** The latest time of JavaScript is later than the last year of four digits. */
const isoOf = (ms: number): string =>
  new Date(Math.min(ms, Date.UTC(9999, 11, 31, 23, 59, 59, 999))).toISOString()

const unknown = ({ code }: Refusal): Verified => ({
  valid: false,
  code,
  keyId: null,
  userId: null,
  tenant: null,
  scopes: [],
  expiresAt: null,
  remaining: null,
})
