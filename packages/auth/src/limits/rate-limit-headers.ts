/**
 * `RateLimit`, which says what is left of the limits of a key, and `Retry-After`. The field
 * `RateLimit-Policy` is a part of their terms.
 *
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
import { membersOf, type MeterList } from './meter-list.ts'

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
