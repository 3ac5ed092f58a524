/**
 * `RateLimit-Policy` and `RateLimit`: what a limited key may do, and what is left of it.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
import { metersOf, type MeterList } from './meter-registry.ts'
import type { Meter } from './meter.ts'

/** A structured field's String: no name of ours has a character that it would escape. */
const nameOf = ({ rule: { subject, period, limit } }: Meter): string =>
  typeof period === 'string'
    ? `"quota-${period}"`
    : `"${subject.startsWith('tenant:') ? 'tenant-' : ''}${limit}-per-${period}s"`

const DAY_SECONDS = 86_400

function policyOf(meter: Meter): string {
  const { period, limit } = meter.rule
  // A month has no fixed number of seconds. The period `total` has no end.
  const seconds = period === 'day' ? DAY_SECONDS : period
  return `${nameOf(meter)};q=${limit}${typeof seconds === 'number' ? `;w=${seconds}` : ''}`
}

/** It is the same for all requests of a key. */
export const rateLimitPolicy = (list: MeterList): string => metersOf(list).map(policyOf).join(', ')

/** The beginning of each member of `RateLimit`, which is the same for all requests of a key. */
export const rateLimitLabels = (list: MeterList): string[] =>
  metersOf(list).map((meter, index) => `${index === 0 ? '' : ', '}${nameOf(meter)};r=`)

export function rateLimit(list: MeterList, labels: readonly string[], now: number): string {
  let text = ''
  let index = 0
  for (let one: MeterList | null = list; one !== null; one = one.next) {
    const { meter, rule } = one
    // Another key that shares the meter may have come between.
    if (meter.rule !== rule) meter.change(rule)
    meter.prune(now)
    const resetMs = meter.resetMs(now)
    text += `${labels[index++]}${meter.remaining(now)}`
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
  refusing: Meter,
  now: number,
): number | undefined {
  if (refusing.isQuota) return secondsOf(refusing.retryAfterMs(now))
  const over = metersOf(list).filter((meter) => !meter.isQuota && meter.isOver(1, now))
  return Math.max(...[...over, refusing].map((meter) => secondsOf(meter.retryAfterMs(now)) ?? 1))
}

/** Rounds up to at least one second: an immediate retry would be refused again. */
const secondsOf = (ms: number | null): number | undefined =>
  ms === null ? undefined : Math.max(1, Math.ceil(ms / 1000))
