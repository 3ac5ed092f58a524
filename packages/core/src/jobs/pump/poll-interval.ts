/** How often a queue is polled. Notifications come first: the poll makes up for those that are lost. */
import type { Lane } from '../job.ts'

/** A queue without a job for so long is idle. */
export const IDLE_AFTER_MS = 5000

export function pollMsAfter(idleMs: number, lane: Lane): number {
  if (idleMs < IDLE_AFTER_MS) return 100
  if (idleMs < 60_000) return 500
  return lane === 'first' ? 2000 : 5000
}
