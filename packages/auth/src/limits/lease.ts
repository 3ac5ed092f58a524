/** For how long a process may hold allowances of a limit ahead of need, and when it gives them back. */

const SHORTEST_MS = 60_000
const LONGEST_MS = 300_000
/** A quota has no window, and what is held of it may be used until its period ends. */
const IDLE_MS_OF_QUOTA = 10_000

/** As "__svc.auth.grant_of_window" has it. `Infinity` for a quota, which has no window. */
export function leaseMsOf(windowMs: number): number {
  if (windowMs === 0) return Infinity
  return Math.min(windowMs, Math.max(SHORTEST_MS, Math.min(windowMs / 12, LONGEST_MS)))
}

/** From when on a portion is renewed, if the limit is used: in the last third of its lease. */
export const renewedFrom = (endsAt: number, leaseMs: number): number =>
  leaseMs === Infinity ? endsAt : endsAt - leaseMs / 3

/** After how long without a request that passes a process gives back what it holds. */
export function idleMsOf(windowMs: number): number {
  if (windowMs === 0) return IDLE_MS_OF_QUOTA
  const ofLong = Math.min(120_000, windowMs / 30)
  return Math.max(1000, Math.min(30_000, windowMs / 4), ofLong)
}
