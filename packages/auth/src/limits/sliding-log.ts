/** What one process has admitted in the last window, by a clock that is passed in. */

/** Up to this limit each request has its own time; beyond it, those of a slice of the window share one. */
const MAX_ENTRIES = 128

/**
 * An ordinary request reads and writes the numbers of the current slice, and no list: the lists of ten
 * thousand keys do not fit in the caches of the processor, and reading them from memory would take
 * longer than all else.
 */
export class SlidingLog {
  /** How many requests are in the window, as of the last `prune`. */
  count = 0
  readonly #windowMs: number
  /** The current slice: when the last of its requests came, how many they are, and when it ends. */
  #sliceAt = 0
  #sliceCount = 0
  #sliceEndsAt = -Infinity
  /** The slices before it, oldest first, from `head` on. */
  #times: number[] = []
  #counts: number[] = []
  #head = 0
  /** When the oldest of those leaves the window. */
  #oldestLeavesAt = Infinity

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /**
   * `limit`: above 128, requests of one slice are counted as if all came at the time of the last, so
   * that a log never has more than about 128 entries.
   */
  add(now: number, limit: number): void {
    this.count++
    if (now >= this.#sliceEndsAt) this.#beginSlice(now, limit)
    this.#sliceAt = now
    this.#sliceCount++
  }

  /** Drops what has left the window. */
  prune(now: number): void {
    if (now < this.#oldestLeavesAt) {
      if (this.#oldestLeavesAt < Infinity || this.#sliceCount === 0) return
    } else this.#pruneSlices(now)
    if (this.#oldestLeavesAt < Infinity || this.#sliceAt + this.#windowMs > now) return
    this.count -= this.#sliceCount
    this.#sliceCount = 0
    this.#sliceEndsAt = -Infinity
  }

  /** When the oldest request leaves the window; `null` without a request in it. */
  nextLeaves(): number | null {
    if (this.#oldestLeavesAt < Infinity) return this.#oldestLeavesAt
    return this.#sliceCount === 0 ? null : this.#sliceAt + this.#windowMs
  }

  #beginSlice(now: number, limit: number): void {
    if (this.#sliceCount > 0) {
      this.#times.push(this.#sliceAt)
      this.#counts.push(this.#sliceCount)
      this.#oldestLeavesAt = (this.#times[this.#head] as number) + this.#windowMs
      this.#sliceCount = 0
    }
    const sliceMs = this.#windowMs / MAX_ENTRIES
    this.#sliceEndsAt = limit > MAX_ENTRIES ? (Math.floor(now / sliceMs) + 1) * sliceMs : -Infinity
  }

  #pruneSlices(now: number): void {
    while (this.#head < this.#times.length) {
      if ((this.#times[this.#head] as number) + this.#windowMs > now) break
      this.count -= this.#counts[this.#head] as number
      this.#head++
    }
    const oldest = this.#times[this.#head]
    this.#oldestLeavesAt = oldest === undefined ? Infinity : oldest + this.#windowMs
    if (this.#head < 32 || this.#head * 2 < this.#times.length) return
    this.#times = this.#times.slice(this.#head)
    this.#counts = this.#counts.slice(this.#head)
    this.#head = 0
  }
}
