/** The retry schedule of a single webhook. */

export interface RetrySchedule {
  /** How often a delivery is tried. */
  maxAttempts?: number | undefined
  /** The delays between the attempts; the last one holds for all that follow. */
  delaysSeconds?: readonly number[] | undefined
}

export const MAX_ATTEMPTS = 30
export const MAX_DELAY_SECONDS = 7 * 24 * 3600
/** How much a delay varies: deliveries that failed together are not all tried again together. */
const JITTER = 0.1

/** How often a delivery is tried; `null` where the settings of the process decide. */
export function maxAttemptsOf({ maxAttempts, delaysSeconds }: RetrySchedule): number | null {
  return maxAttempts ?? (delaysSeconds && delaysSeconds.length + 1) ?? null
}

/**
 * How long after the attempt `attempt` (1, 2, …) the next one follows, in milliseconds; `null`
 * where the settings of the process decide.
 */
export function retryDelayMs(
  { delaysSeconds }: RetrySchedule,
  attempt: number,
  random: () => number,
): number | null {
  const delay = delaysSeconds?.[attempt - 1] ?? delaysSeconds?.at(-1)
  if (delay === undefined) return null
  return Math.round(delay * 1000 * (1 - JITTER + 2 * JITTER * random()))
}

/** How many attempts follow a failed one, and when the next one does. */
export interface RetryDecision {
  attemptsLeft: number
  /** `null` where the settings of the process decide. */
  retryInMs: number | null
}

/** Decides what follows a failed attempt. A redriven delivery gets all its attempts again. */
export function scheduleAfter(
  retry: RetrySchedule,
  { attempt, attemptsLeft }: { attempt: number; attemptsLeft: number },
  random: () => number,
): RetryDecision {
  const maxAttempts = maxAttemptsOf(retry)
  return {
    attemptsLeft: maxAttempts === null ? attemptsLeft : Math.max(0, maxAttempts - attempt),
    retryInMs: retryDelayMs(retry, attempt, random),
  }
}
