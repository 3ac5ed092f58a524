/** How many allowances a process holds ahead of need. */

/** Up to this limit no process holds allowances ahead of need, so the limit is kept exactly. */
const MAX_EXACT = 10
/** The first ones are a hundredth of the limit, between these. */
const FIRST_AT_LEAST = 8
const FIRST_AT_MOST = 64
/** How often a process requests allowances of a busy key. */
const OFTEN_MS = 5000
const SELDOM_MS = 20_000

/** At most a tenth of the limit, which is all that Postgres grants to all processes together. */
export function aheadOf(limit: number, target: number): number {
  if (limit <= MAX_EXACT) return 0
  const first = Math.min(FIRST_AT_MOST, Math.max(FIRST_AT_LEAST, Math.floor(limit / 100)))
  return Math.min(Math.floor(limit / 10), Math.max(Math.floor(target), first))
}

/** The next target, by the time since the last statement for this meter. */
export function targetAfter(sinceMs: number, target: number, ahead: number): number {
  if (sinceMs < OFTEN_MS) return ahead * 2
  return sinceMs > SELDOM_MS ? target / 2 : target
}
