/**
 * Decides about the text of a key for another service, as the guard does for a request: unlike
 * validate-api-key.ts it checks scopes and addresses, and takes from limits and quotas.
 */
import { InvalidInput } from '@svc/core'
import { reaches } from '@svc/core/internal'
import { isIP } from 'node:net'
import { AuthUnavailable } from '../errors.ts'
import type { CachedKey } from '../guard/keys/cached-key.ts'
import { meets } from '../guard/keys/cached-key.ts'
import type { Authentication } from '../guard/keys/authentication.ts'
import { isFailure } from '../guard/keys/key-cache.ts'
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
import type { Verification, Verified } from '../schemas.ts'
import type { UsageOutcome } from '../tables/usage.ts'
import { reachOfCall, type OperationCall } from './context.ts'

export function createKeyVerification(authentication: Authentication) {
  const { authenticator, lastUsed, allowances, usage } = authentication

  /** Takes what the request costs. @throws AuthUnavailable */
  async function exceeded({ limits }: CachedKey, cost: number): Promise<Refusal | undefined> {
    if (limits === null) return undefined
    const decision = await allowances.check(limits, cost)
    if (decision === 'passed') return undefined
    if (decision === 'unavailable') throw new AuthUnavailable()
    return decision.meter.isQuota ? QUOTA_EXCEEDED : RATE_LIMITED
  }

  return {
    /** Counts failed attempts and uses, since for the other service this is the guard. */
    async verifyApiKey(
      { key, scopes = [], ip, cost = 1 }: Verification,
      call: OperationCall = {},
    ): Promise<Verified> {
      if (ip !== undefined && isIP(ip) === 0)
        throw new InvalidInput('body/ip must be an IP address')
      const hash = key.length > LONGEST_KEY ? '' : hashOf(key)
      const result = await authenticator.authenticate(key, hash).catch(() => {
        throw new AuthUnavailable()
      })
      if (isFailure(result) && result.verdict === 'expired' && result.keyId !== null) {
        usage?.countOnce(result.keyId, 'expired')
      }
      if (isFailure(result)) return unknown(result.verdict === 'blocked' ? BLOCKED : INVALID_KEY)
      if (!reaches(reachOfCall(call), result.auth.tenant)) return unknown(INVALID_KEY)
      lastUsed.record(result)
      const required = scopes.length > 0 ? requirement(scopes) : NO_SCOPE
      const forbidden = refusalOf(result, required, ip)
      const refusal = forbidden ?? (await exceeded(result, cost))
      if (result.usage !== null) usage?.count(result.usage, outcomeOf(refusal))
      const { limits } = result
      const remaining =
        limits &&
        (forbidden ? await allowances.remainingOfAll(limits) : allowances.remaining(limits))
      const valid = refusal === undefined
      return { ...factsOf(result), valid, code: refusal?.code ?? null, remaining }
    },
  }
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
