/**
 * `RateLimit-Policy` and `RateLimit`: what a limited key may do, and what is left of it.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
import { membersOf, type MeterList } from './meter-list.ts'

/** A structured field's String: no name of ours has a character that it would escape. */
const nameOf = ({ meter: { subject, period }, limit }: MeterList): string =>
  typeof period === 'string'
    ? `"quota-${period}"`
    : `"${subject.startsWith('tenant:') ? 'tenant-' : ''}${limit}-per-${period}s"`

const DAY_SECONDS = 86_400

function policyOf(one: MeterList): string {
  const { period } = one.meter
  // A month has no fixed number of seconds. The period `total` has no end.
  const seconds = period === 'day' ? DAY_SECONDS : period
  return `${nameOf(one)};q=${one.limit}${typeof seconds === 'number' ? `;w=${seconds}` : ''}`
}

/** It is the same for all requests of a key. */
export const rateLimitPolicy = (list: MeterList): string => membersOf(list).map(policyOf).join(', ')

/** The beginning of each member of `RateLimit`, which is the same for all requests of a key. */
export const rateLimitLabels = (list: MeterList): string[] =>
  membersOf(list).map((one, index) => `${index === 0 ? '' : ', '}${nameOf(one)};r=`)

export function rateLimit(list: MeterList, labels: readonly string[], now: number): string {
  let text = ''
  let index = 0
  for (let one: MeterList | null = list; one !== null; one = one.next) {
    const { meter, limit } = one
    meter.prune(now)
    const resetMs = meter.resetMs(now)
    text += `${labels[index++]}${meter.remaining(limit, now)}`
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
    ({ meter, limit }) => !meter.isQuota && meter.isOver(limit, 1, now),
  )
  return Math.max(...[...over, refusing].map((one) => secondsOf(one, now) ?? 1))
}

/** Rounds up to at least one second: an immediate retry would be refused again. */
function secondsOf({ meter, limit }: MeterList, now: number): number | undefined {
  const ms = meter.retryAfterMs(limit, now)
  return ms === null ? undefined : Math.max(1, Math.ceil(ms / 1000))
}
