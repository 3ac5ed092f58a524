/**
 * How often a queue is polled. Publishes of this process hand their jobs over, other processes send
 * notifications, and a lane remembers when the jobs that it has put back are due. A poll finds the
 * jobs whose notification was lost.
 */
/** How long a queue must be without a job to count as idle. */
export const IDLE_AFTER_MS = 5000
const AT_REST_AFTER_MS = 60_000

/** `isNotified`: whether this process receives notifications; behind a pooler it does not. */
export function pollMsAfter(idleMs: number, isNotified: boolean): number {
  if (idleMs >= AT_REST_AFTER_MS) return isNotified ? 4000 : 2000
  if (isNotified) return 1000
  return idleMs < IDLE_AFTER_MS ? 100 : 500
}

/**
 * When a queue that is polled each `everyMs` is polled next, in milliseconds from `now`: at a multiple of
 * that time, so that the polls of all queues of a process fall together.
 */
export const msUntilPoll = (everyMs: number, now: number): number =>
  // A timer may end a fraction of a millisecond before its time: the same poll would come again.
  Math.ceil(everyMs - (now % everyMs)) + 1

const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

export const pauseMsAfter = (failures: number): number =>
  Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** Math.min(failures - 1, 10))
