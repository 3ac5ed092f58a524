/** What one process has admitted in the last window, by a clock that is passed in. */

/** Up to this limit each request has its own time; beyond it, those of a slice of the window share one. */
const MAX_ENTRIES = 128

export class SlidingLog {
  /** How many requests are in the window, as of the last `prune`. */
  count = 0
  readonly #windowMs: number
  #times: number[] = []
  #counts: number[] = []
  #head = 0
  /** When the slice of the last entry ends. */
  #sliceEndsAt = -Infinity

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /**
   * `limit`: above 128, requests of one slice are counted as if all came at the time of the last, so
   * that a log never has more than about 128 entries.
   */
  add(now: number, limit: number): void {
    this.count++
    const last = this.#times.length - 1
    if (limit > MAX_ENTRIES) {
      if (now < this.#sliceEndsAt && last >= this.#head) {
        this.#times[last] = now
        this.#counts[last] = (this.#counts[last] as number) + 1
        return
      }
      const sliceMs = this.#windowMs / MAX_ENTRIES
      this.#sliceEndsAt = (Math.floor(now / sliceMs) + 1) * sliceMs
    } else this.#sliceEndsAt = -Infinity
    this.#times.push(now)
    this.#counts.push(1)
  }

  /** Drops what has left the window. */
  prune(now: number): void {
    while (this.#head < this.#times.length) {
      if ((this.#times[this.#head] as number) + this.#windowMs > now) break
      this.count -= this.#counts[this.#head] as number
      this.#head++
    }
    if (this.#head < 32 || this.#head * 2 < this.#times.length) return
    this.#times = this.#times.slice(this.#head)
    this.#counts = this.#counts.slice(this.#head)
    this.#head = 0
  }

  /** When the oldest request leaves the window; `null` without a request in it. */
  nextLeaves(): number | null {
    const oldest = this.#times[this.#head]
    return oldest === undefined ? null : oldest + this.#windowMs
  }
}
