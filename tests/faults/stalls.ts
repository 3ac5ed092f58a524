/** Notes when a process had no turn: what it did then has the time of its next turn. */
import type { Span } from './ledger.ts'

/** The machine's monotonic clock, which is the same for all processes, is so far ahead of this one's. */
export const MACHINE_CLOCK_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now()

const LOOK_MS = 50
const STALL_MS = 250

/** Tells of each stall, by `performance.now()`. Returns what ends the watch. */
export function watchStalls(tell: (stall: Span) => void): () => void {
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    if (now - last > STALL_MS) tell({ from: last, until: now })
    last = now
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
