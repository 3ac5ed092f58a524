/** The terms of a limit or quota: how many in which time, and how header fields name them. */
import type { Period, Rule } from '../tables/allowances.ts'

/** Keys with equal limits share them: they take no memory of a key, and stay in the processor's caches. */
export interface Terms {
  readonly limit: number
  readonly period: Period
  readonly periods: Rule['periods']
  /** A quota has a period of the calendar instead of a window. */
  readonly isQuota: boolean
  /** 0 for a quota. */
  readonly windowMs: number
  /** How its member of the field `RateLimit` begins. */
  readonly label: string
  /** The field `RateLimit-Policy` for it and for those that follow in the list of a key. */
  readonly policy: string
  /** Whether it or one of those is a quota, which the cost of a route is taken from. */
  readonly hasQuota: boolean
}

export function termsOf(
  { subject, period, periods = null, limit }: Rule,
  following: Terms | null,
): Terms {
  const isQuota = typeof period === 'string'
  const prefix = subject.startsWith('tenant:') ? 'tenant-' : ''
  // A structured field's String: no name of ours has a character that it would escape.
  const name = `"${prefix}${isQuota ? `quota-${period}` : `${limit}-per-${period}s`}"`
  // A month has no fixed number of seconds. The period `total` has no end.
  const seconds = period === 'day' ? 86_400 : period
  const policy = `${name};q=${limit}${typeof seconds === 'number' ? `;w=${seconds}` : ''}`
  return {
    limit,
    period,
    periods,
    isQuota,
    windowMs: isQuota ? 0 : period * 1000,
    label: `${name};r=`,
    policy: following === null ? policy : `${policy}, ${following.policy}`,
    hasQuota: isQuota || following?.hasQuota === true,
  }
}
