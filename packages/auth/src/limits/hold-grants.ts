/** What Postgres granted becomes portions, each usable for its time. */
import type { Answer, Rule } from '../tables/allowance-terms.ts'
import type { HeldAllowances } from './held-allowances.ts'
import type { Sending } from './sending.ts'

/**
 * `sentAt`: when the statement was sent. What was granted to requests that wait may be used until
 * `lateMs` after that, since Postgres counts it from then on. Of a quota it counts until the period ends,
 * and what no request takes within `lateMs` is given back.
 */
export function holdGrants(
  portions: HeldAllowances,
  { period, limit }: Rule,
  { granted, ahead, stamp, validMs }: Answer,
  { sentAt, lateMs, holder, now }: Sending,
): void {
  const validUntil = validMs === null ? Infinity : sentAt + validMs
  const isWindow = typeof period === 'number'
  const countsUntil = isWindow ? sentAt + period * 1000 : validUntil
  const common = { stamp, countsUntil, holder, limit }
  if (granted > 0) {
    const usableUntil = isWindow ? sentAt + lateMs : Math.min(validUntil, now + lateMs)
    portions.hold({ ...common, count: granted, usableUntil, isAhead: false })
  }
  if (ahead > 0) {
    portions.hold({ ...common, count: ahead, usableUntil: validUntil, isAhead: true })
    if (isWindow) portions.renew(holder, validUntil)
  }
}
