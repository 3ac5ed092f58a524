/**
 * Whether a request passes the limits and the quota of its key, and the header fields that report
 * them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Allowances } from '../limits/allowances.ts'
import type { LimitDecision } from '../limits/limiter.ts'
import type { MeterList } from '../limits/meter-list.ts'
import { rateLimit, retryAfterSeconds } from '../limits/rate-limit-headers.ts'
import type { UsageOutcome } from '../tables/usage.ts'
import { QUOTA_EXCEEDED, RATE_LIMITED, UNAVAILABLE, type Refusal } from './refusals.ts'

export interface Exceeded {
  readonly verdict: 'rate limited' | 'quota exceeded' | 'unavailable'
  readonly refusal: Refusal
  readonly retryAfterSeconds: number | undefined
  /** `null` where nothing is known of the limits. */
  readonly outcome: UsageOutcome | null
}

export type LimitCheck = ReturnType<typeof createLimitCheck>

/** `costOf`: how much a request uses of the quota. */
export function createLimitCheck(
  allowances: Allowances,
  costOf: (request: FastifyRequest) => number,
) {
  const { limiter, now } = allowances

  return {
    /**
     * Takes what the request costs, and sets the rate-limit fields of its answer. `null`: it passes. A
     * promise where the decision needs a query.
     */
    check(
      limits: MeterList,
      request: FastifyRequest,
      reply: FastifyReply,
    ): Exceeded | null | Promise<Exceeded | null> {
      const at = now()
      const cost = limits.terms.hasQuota ? costOf(request) : 1
      const decision = limiter.take(limits, cost, at)
      if (decision !== null) return conclude(decision, limits, reply, at)
      return allowances.wait(limits, cost).then((late) => conclude(late, limits, reply, now()))
    },

    /** Sets the fields where nothing is taken. Every answer to a limited key has them. */
    writeFields: (limits: MeterList, reply: FastifyReply) => writeFields(limits, reply, now()),
  }
}

function conclude(
  decision: LimitDecision,
  limits: MeterList,
  reply: FastifyReply,
  now: number,
): Exceeded | null {
  writeFields(limits, reply, now)
  if (decision === 'passed') return null
  if (decision === 'unavailable') return UNKNOWN
  const over = decision.terms.isQuota ? OVER_QUOTA : OVER_LIMIT
  return { ...over, retryAfterSeconds: retryAfterSeconds(limits, decision, now) }
}

function writeFields(limits: MeterList, reply: FastifyReply, now: number): void {
  reply.header('ratelimit-policy', limits.terms.policy)
  reply.header('ratelimit', rateLimit(limits, now))
}

const OVER_LIMIT = {
  verdict: 'rate limited',
  refusal: RATE_LIMITED,
  outcome: 'rate_limited',
} as const
const OVER_QUOTA = {
  verdict: 'quota exceeded',
  refusal: QUOTA_EXCEEDED,
  outcome: 'quota_exceeded',
} as const
const UNKNOWN: Exceeded = {
  verdict: 'unavailable',
  refusal: UNAVAILABLE,
  retryAfterSeconds: 1,
  outcome: null,
}
