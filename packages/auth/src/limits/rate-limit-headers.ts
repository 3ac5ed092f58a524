/**
 * `RateLimit-Policy` and `RateLimit`: what a limited key may do, and what is left of it.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
import type { Rule } from '../tables/allowances.ts'
import { membersOf, type MeterList } from './meter-list.ts'

/** A structured field's String: no name of ours has a character that it would escape. */
const nameOf = ({ subject, period, limit }: Rule): string =>
  typeof period === 'string'
    ? `"quota-${period}"`
    : `"${subject.startsWith('tenant:') ? 'tenant-' : ''}${limit}-per-${period}s"`

const DAY_SECONDS = 86_400

function policyOf({ rule }: MeterList): string {
  const { period, limit } = rule
  // A month has no fixed number of seconds. The period `total` has no end.
  const seconds = period === 'day' ? DAY_SECONDS : period
  return `${nameOf(rule)};q=${limit}${typeof seconds === 'number' ? `;w=${seconds}` : ''}`
}

/** It is the same for all requests of a key. */
export const rateLimitPolicy = (list: MeterList): string => membersOf(list).map(policyOf).join(', ')

/** The beginning of each member of `RateLimit`, which is the same for all requests of a key. */
export const rateLimitLabels = (list: MeterList): string[] =>
  membersOf(list).map(({ rule }, index) => `${index === 0 ? '' : ', '}${nameOf(rule)};r=`)

export function rateLimit(list: MeterList, labels: readonly string[], now: number): string {
  let text = ''
  let index = 0
  for (let one: MeterList | null = list; one !== null; one = one.next) {
    const { meter, rule } = one
    meter.prune(now)
    const resetMs = meter.resetMs(now)
    text += `${labels[index++]}${meter.remaining(rule.limit, now)}`
    if (resetMs !== null) text += `;t=${Math.ceil(resetMs / 1000)}`
  }
  return text
}

/**
 * The value of `Retry-After` for all limits, or for the quota, that the request is over;
 * `undefined`: never.
 */
export function retryAfterSeconds(
  list: MeterList,
  refusing: MeterList,
  now: number,
): number | undefined {
  if (refusing.meter.isQuota) return secondsOf(refusing, now)
  const over = membersOf(list).filter(
    ({ meter, rule }) => !meter.isQuota && meter.isOver(rule.limit, 1, now),
  )
  return Math.max(...[...over, refusing].map((one) => secondsOf(one, now) ?? 1))
}

/** Rounds up to at least one second: an immediate retry would be refused again. */
function secondsOf({ meter, rule }: MeterList, now: number): number | undefined {
  const ms = meter.retryAfterMs(rule.limit, now)
  return ms === null ? undefined : Math.max(1, Math.ceil(ms / 1000))
}
