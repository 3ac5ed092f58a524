/** The guard: an `onRequest` hook before every route, which answers 503 if it cannot decide. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorText } from '@svc/core/internal'
import { MissingKey, PlanUnknown } from '../errors.ts'
import { hashOf, LONGEST_KEY, prefixOf } from '../key-format.ts'
import type { KeyFailure, PrefixBlocked } from './auth-failure.ts'
import type { PresentedKey } from './credentials.ts'
import type { GuardTelemetry } from './guard-telemetry.ts'
import type { Authentication } from './keys/authentication.ts'
import {
  type Auth,
  type CachedKey,
  isExpired,
  isFailure,
  meets,
  type RequestChecks,
} from './keys/key-cache.ts'
import type { UsageOutcome } from '../tables/usage.ts'
import type { Exceeded, LimitCheck } from './limit-check.ts'
import type { PolicyMap } from './policy/policy-map.ts'
import type { GuardedPolicy, Policy, Requirement } from './policy/route-policy.ts'
import {
  AMBIGUOUS_CREDENTIALS,
  BLOCKED,
  INVALID_KEY,
  IP_NOT_ALLOWED,
  logRefusal,
  MISSING_KEY,
  PLAN_UNKNOWN,
  sendRefusal,
  UNAVAILABLE,
  type Refusal,
  type RefusalDetails,
} from './refusals.ts'
import type { CopyToRequestContext } from './request-context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; `null` on a path that needs no key, save where a `public` route was sent one. */
    auth: Auth | null
  }
}

/**
 * The caller of a request, typed as present.
 *
 * @throws MissingKey (401) where no key was presented: on an open path, or on a `public` route
 * @example
 * app.get('/profile', async (request) => profileOf(authOf(request).userId))
 */
export function authOf(request: FastifyRequest): Auth {
  if (!request.auth) {
    // Fastify's error handler sends them, as the guard does with its own 401.
    throw Object.assign(new MissingKey(), { headers: { 'www-authenticate': 'Bearer' } })
  }
  return request.auth
}

export interface GuardParts extends Pick<
  Authentication,
  'keyCache' | 'lease' | 'authenticator' | 'lockout' | 'lastUsed' | 'usage' | 'log'
> {
  policies: Pick<PolicyMap, 'policyOf'>
  presentedKey: PresentedKey
  limitCheck: LimitCheck
  /** `null` where nothing is measured: the guard then makes no call. */
  telemetry: GuardTelemetry | null
  /** `null` where the host does not use the request context. */
  copyToRequestContext: CopyToRequestContext | null
  /** `null` without the option `errorBody`. */
  errorText: ErrorText | null
}

type Done = () => void

const RETRY_AFTER_SECONDS = 1

/** The hook before every route, and what it does for one request of a policy. */
export function createGuard(parts: GuardParts) {
  const { policies, presentedKey, keyCache, lease, authenticator, lockout, lastUsed, log } = parts
  const { copyToRequestContext, limitCheck, usage, telemetry, errorText } = parts

  return { hook: svcAuthGuard, judge }

  function svcAuthGuard(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    judge(policies.policyOf(request), request.method, request, reply, done)
  }

  /**
   * Refuses the request, or writes `request.auth` and calls `done`.
   *
   * @param method that of the request that is decided about
   */
  function judge(
    policy: Policy,
    method: string,
    request: FastifyRequest,
    reply: FastifyReply,
    done: Done,
  ): void {
    if (policy.kind === 'open') {
      passOpen(request, done, policy.isCounted)
      return
    }
    const key = presentedKey(rawHeadersOf(request))
    if (typeof key !== 'string') {
      if (policy.isOptional && key.verdict === 'missing') {
        passOpen(request, done, true)
        return
      }
      refuse(request, reply, key.verdict === 'missing' ? MISSING_KEY : AMBIGUOUS_CREDENTIALS, key)
      return
    }
    const requirement = requirementOf(policy, method)
    const hash = key.length > LONGEST_KEY ? '' : hashOf(key)
    const cached = keyCache.validKey(hash)
    if (cached !== undefined && lease.isHeld() && !needsCheck(cached)) {
      if (telemetry !== null) telemetry.hit()
      admit(cached, requirement, request, reply, done)
      return
    }
    if (telemetry !== null) telemetry.miss()
    later(authenticator.authenticate(key, hash), request, reply, done, (result, pass) => {
      if (isFailure(result)) refuseKey(result, prefixOf(key), request, reply)
      else admit(result, requirement, request, reply, pass)
    })
  }

  function admit(
    key: CachedKey,
    requirement: Requirement,
    request: FastifyRequest,
    reply: FastifyReply,
    done: Done,
  ): void {
    if (key.checks !== null && !comesFromAllowedAddress(key, key.checks, request, reply)) return
    if (lockout !== null && key.prefix !== null) key.prefix.lastUsedTick = lockout.tick
    if (key.recordedTick !== lastUsed.tick) lastUsed.record(key)
    const { auth } = key
    if (!meets(key, requirement)) {
      const { keyId, userId } = auth
      const details = { verdict: 'insufficient scope', keyId, userId } as const
      countForbidden(key, reply)
      refuse(request, reply, requirement.refusal, details)
      return
    }
    if (key.limits === null) {
      pass(key, request, done)
      return
    }
    const exceeded = limitCheck.check(key.limits, request, reply)
    if (exceeded instanceof Promise) {
      later(exceeded, request, reply, done, (made, pass) =>
        conclude(made, key, request, reply, pass),
      )
    } else conclude(exceeded, key, request, reply, done)
  }

  function passOpen(request: FastifyRequest, done: Done, isCounted: boolean): void {
    if (telemetry !== null && isCounted) telemetry.open()
    request.auth = null
    done()
  }

  function pass(key: CachedKey, request: FastifyRequest, done: Done): void {
    if (telemetry !== null) telemetry.allowed()
    count(key, 'allowed')
    request.auth = key.auth
    if (copyToRequestContext !== null) copyToRequestContext(request, key.auth)
    done()
  }

  /** Concludes for a key with limits. */
  function conclude(
    exceeded: Exceeded | null,
    key: CachedKey,
    request: FastifyRequest,
    reply: FastifyReply,
    done: Done,
  ): void {
    if (exceeded === null) return pass(key, request, done)
    const { verdict, refusal, retryAfterSeconds, outcome } = exceeded
    const { keyId, userId } = key.auth
    if (outcome !== null) count(key, outcome)
    refuse(request, reply, refusal, { verdict, keyId, userId }, retryAfterSeconds)
  }

  /** Counts a refusal in the usage of the key, and writes its rate-limit fields. Its limits are not charged. */
  function countForbidden(key: CachedKey, reply: FastifyReply): void {
    count(key, 'forbidden')
    if (key.limits !== null) limitCheck.writeFields(key.limits, reply)
  }

  function count(key: CachedKey, outcome: UsageOutcome): void {
    if (usage !== null && key.usage !== null) usage.count(key.usage, outcome)
  }

  /** Checks the address of the request against those of the key. Refuses the request if it is no match. */
  function comesFromAllowedAddress(
    key: CachedKey,
    { mayComeFrom }: RequestChecks,
    request: FastifyRequest,
    reply: FastifyReply,
  ): boolean {
    // A request on a Unix socket has no address, nor has one whose client has gone before it was read.
    const ip = request.ip as string | undefined
    if (mayComeFrom === null || mayComeFrom(ip)) return true
    const { keyId, userId } = key.auth
    countForbidden(key, reply)
    refuse(request, reply, IP_NOT_ALLOWED, { verdict: 'address not allowed', keyId, userId, ip })
    return false
  }

  function refuseKey(
    failure: KeyFailure | PrefixBlocked,
    keyPrefix: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { verdict, keyId } = failure
    const details = keyId === null ? { verdict, keyPrefix } : { verdict, keyId }
    if (verdict === 'expired' && keyId !== null) usage?.countOnce(keyId, 'expired')
    if (verdict !== 'blocked') refuse(request, reply, INVALID_KEY, details)
    else refuse(request, reply, BLOCKED, details, Math.ceil(failure.forMs / 1000))
  }

  /**
   * Waits for a decision, and refuses the request if it cannot be made. Fastify catches no error of a hook
   * that has waited, and an unhandled rejection would end the process: all errors are caught here, also
   * those of the rest of the request.
   */
  function later<Decision>(
    decision: Promise<Decision>,
    request: FastifyRequest,
    reply: FastifyReply,
    done: Done,
    conclude: (made: Decision, pass: Done) => void,
  ): void {
    let hasPassed = false
    const pass = (): void => {
      hasPassed = true
      done()
    }
    decision
      .then(
        (made) => conclude(made, pass),
        (error: Error) => {
          const [refusal, verdict] =
            error instanceof PlanUnknown
              ? ([PLAN_UNKNOWN, 'plan unknown'] as const)
              : ([UNAVAILABLE, 'unavailable'] as const)
          const details = { verdict, reason: error.message }
          refuse(request, reply, refusal, details, RETRY_AFTER_SECONDS)
        },
      )
      .catch((err: unknown) => {
        const about = { err, reqId: request.id }
        // The same as Fastify does where the guard has decided at once.
        if (hasPassed && !reply.sent) reply.send(err)
        else if (hasPassed) log.error(about, 'a request threw an error after it was answered')
        else {
          if (!reply.sent) sendRefusal(reply, UNAVAILABLE, errorText, RETRY_AFTER_SECONDS)
          log.error(about, 'the guard threw an error; the request was refused')
        }
      })
      // Neither an answer nor a log was possible.
      .catch(() => reply.raw.destroy())
  }

  function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: Refusal,
    details: RefusalDetails,
    retryAfterSeconds?: number,
  ): void {
    if (telemetry !== null) telemetry.refused(details.verdict, refusal.statusCode)
    logRefusal(log, request, details)
    sendRefusal(reply, refusal, errorText, retryAfterSeconds)
  }
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What a request by this method must meet. */
export const requirementOf = ({ reading, other }: GuardedPolicy, method: string): Requirement =>
  READING.has(method) ? reading : other

const needsCheck = (key: CachedKey): boolean =>
  isExpired(key) ||
  (key.prefix !== null && key.prefix.needsDatabaseCheck) ||
  (key.plan !== null && !key.plan.isCurrent)

/** A request that was made in this process, such as an injected WebSocket, may have no raw headers. */
const rawHeadersOf = ({ raw }: FastifyRequest): readonly string[] =>
  raw.rawHeaders ?? Object.entries(raw.headers).flat()
