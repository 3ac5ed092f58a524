/**
 * How many jobs are fetched before there is a slot for their attempt. With a handler that takes a
 * few milliseconds, the round trips of fetches would otherwise limit the throughput.
 */
const MOST = 200
/** How much earlier than they start jobs may be fetched. */
const AHEAD_MS = 10
/**
 * Attempts that take longer than this gain nothing from it: a round trip is short compared with
 * them.
 */
const QUICK_MS = 100
const SHORTEST_MS = 0.1
const WEIGHT_OF_ONE = 0.1

export class FetchAhead {
  #concurrency: number
  #meanMs = Infinity

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  record(ms: number): void {
    this.#meanMs =
      this.#meanMs === Infinity ? ms : this.#meanMs + (ms - this.#meanMs) * WEIGHT_OF_ONE
  }

  /** Records how long jobs that were fetched ahead have waited for a slot. */
  waited(ms: number): void {
    this.#meanMs = Math.max(this.#meanMs, ms)
  }

  count(): number {
    if (this.#meanMs > QUICK_MS) return 0
    const jobs = (this.#concurrency * AHEAD_MS) / Math.max(this.#meanMs, SHORTEST_MS)
    return Math.min(MOST, Math.floor(jobs))
  }
}
