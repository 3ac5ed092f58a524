/** How fast a worker is, and what follows from it for how much is fetched, and how often. */

import type { Lane } from '../job.ts'

const BATCH = 200
/** Jobs may be claimed so much earlier than they start. */
const AHEAD_MS = 10
/** With a worker that is slower than this no round trip counts. */
const QUICK_MS = 100
const WEIGHT_OF_ONE = 0.1

export class Pace {
  #concurrency: number
  #meanMs = Infinity

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  note(ms: number): void {
    this.#meanMs =
      this.#meanMs === Infinity ? ms : this.#meanMs + (ms - this.#meanMs) * WEIGHT_OF_ONE
  }

  /** Jobs that were claimed ahead had to wait for so long. */
  waited(ms: number): void {
    this.#meanMs = Math.max(this.#meanMs, ms)
  }

  /**
   * How many jobs to claim beyond those that can start now: what a quick worker gets done in a few
   * milliseconds, so that it is not the round trips that bound it.
   */
  ahead(): number {
    if (this.#meanMs > QUICK_MS) return 0
    return Math.min(BATCH, Math.floor((this.#concurrency * AHEAD_MS) / Math.max(this.#meanMs, 0.1)))
  }
}

/** After so long without a job a queue rests. */
export const RESTS_AFTER_MS = 5000

/** Wakes come by signal; the poll is the floor, and a queue that rests is asked less often. */
export function pollMsAfter(restingMs: number, lane: Lane): number {
  if (restingMs < RESTS_AFTER_MS) return 100
  if (restingMs < 60_000) return 500
  return lane === 'fresh' ? 2000 : 5000
}
