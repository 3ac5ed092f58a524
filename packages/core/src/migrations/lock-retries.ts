/** How a migration waits for its locks. Publishes that need the same table wait behind it. */

const FIRST_LOCK_MS = 500
const LONGEST_LOCK_MS = 2000
/**
 * The pause after a try, as a multiple of the time that the try has waited. The statements that
 * have queued up run in it.
 */
const REST = 2

export interface Try {
  /** How long to wait for one lock. */
  lockMs: number
  /** The pause after a try that failed, in which other statements get their locks. */
  pauseMs: number
}

/**
 * The first tries are shorter than the second after which Postgres checks for deadlocks and ends
 * one of the transactions involved, which might be a publish.
 */
export function tryOf(failures: number, random: number = Math.random()): Try {
  const lockMs = Math.min(LONGEST_LOCK_MS, FIRST_LOCK_MS * 2 ** Math.floor(failures / 4))
  return { lockMs, pauseMs: REST * lockMs * (1 + random) }
}

/** A lock that was not to be had in time (55P03), or a deadlock (40P01). */
export const isLockConflict = (error: unknown): boolean =>
  ['55P03', '40P01'].includes(String((error as { code?: unknown } | null)?.code))
