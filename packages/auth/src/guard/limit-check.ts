/**
 * Whether a request passes the limits and the quota of its key, and the header fields that report them:
 * `RateLimit` and `RateLimit-Policy`, which is a part of their terms, and `Retry-After`.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Allowances } from '../limits/allowances.ts'
import type { LimitDecision } from '../limits/limiter.ts'
import { membersOf, type MeterList } from '../limits/meter-list.ts'
import type { UsageOutcome } from '../tables/usage.ts'
import type { PolicyMap } from './policy/policy-map.ts'
import { QUOTA_EXCEEDED, RATE_LIMITED, UNAVAILABLE, type Refusal } from './refusals.ts'

export interface Exceeded {
  readonly verdict: 'rate limited' | 'quota exceeded' | 'unavailable'
  readonly refusal: Refusal
  readonly retryAfterSeconds: number | undefined
  /** `null` where nothing is known of the limits. */
  readonly outcome: UsageOutcome | null
}

export type LimitCheck = ReturnType<typeof createLimitCheck>

export function createLimitCheck(allowances: Allowances, policies: Pick<PolicyMap, 'costOf'>) {
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
      const cost = limits.terms.hasQuota ? policies.costOf(request) : 1
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

export function rateLimit(list: MeterList, now: number): string {
  let text = ''
  for (let one: MeterList | null = list; one !== null; one = one.next) {
    const { meter, terms } = one
    meter.prune(now)
    const resetMs = meter.resetMs(now)
    text += `${text === '' ? '' : ', '}${terms.label}${meter.remaining(terms.limit, now)}`
    if (resetMs !== null) text += `;t=${Math.ceil(resetMs / 1000)}`
  }
  return text
}

/**
 * The value of `Retry-After` for all limits, or for all quotas, that the request is over;
 * `undefined`: never.
 */
export function retryAfterSeconds(
  list: MeterList,
  refusing: MeterList,
  now: number,
): number | undefined {
  const { isQuota } = refusing.terms
  const over = membersOf(list).filter(
    ({ meter, terms }) => terms.isQuota === isQuota && meter.isOver(terms.limit, 1, now),
  )
  const seconds = [...over, refusing].map((one) => secondsOf(one, now))
  if (isQuota && seconds.includes(undefined)) return undefined
  return Math.max(...seconds.map((one) => one ?? 1))
}

/** Rounds up to at least one second: an immediate retry would be refused again. */
function secondsOf({ meter, terms }: MeterList, now: number): number | undefined {
  const ms = meter.retryAfterMs(terms.limit, now)
  return ms === null ? undefined : Math.max(1, Math.ceil(ms / 1000))
}
