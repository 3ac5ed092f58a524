/**
 * Whether a request passes the limits and the quota of its key, and the header fields that report
 * them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Allowances, KeyLimits } from '../limits/allowances.ts'
import type { Verdict } from '../limits/waiting-requests.ts'
import type { MeterSet } from '../limits/meter-registry.ts'
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

export interface LimitCheck {
  /** `null`: it passes. A promise where the decision needs a query. */
  check: (limits: KeyLimits, request: FastifyRequest) => Exceeded | null | Promise<Exceeded | null>
  /** Sets the rate-limit fields on an answer to a limited key. Every such answer has them. */
  writeFields: (reply: FastifyReply, limits: KeyLimits) => void
}

export interface LimitCheckParts {
  allowances: Allowances
  /** How much a request uses of the quota. */
  costOf: (request: FastifyRequest) => number
}

export function createLimitCheck({ allowances, costOf }: LimitCheckParts): LimitCheck {
  const { limiter, now } = allowances

  function exceededBy(set: MeterSet, verdict: Verdict): Exceeded | null {
    if (verdict === 'passed') return null
    if (verdict === 'unavailable') return UNKNOWN
    const over = verdict === set.quota ? OVER_QUOTA : OVER_LIMIT
    return { ...over, retryAfterSeconds: retryAfterSeconds(set, verdict, now()) }
  }

  return {
    check({ set }, request) {
      const cost = set.quota === null ? 1 : costOf(request)
      const verdict = limiter.take(set, cost)
      if (verdict !== null) return exceededBy(set, verdict)
      return allowances.wait(set, cost).then((late) => exceededBy(set, late))
    },

    writeFields(reply, { set, policy, labels }) {
      reply.header('ratelimit-policy', policy)
      reply.header('ratelimit', rateLimit(set, labels, now()))
    },
  }
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
