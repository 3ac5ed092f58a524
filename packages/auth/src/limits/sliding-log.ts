/** What one process has admitted in the last window, by a clock of whole milliseconds that is passed in. */

/** Up to this limit each request has its own time; beyond it, those of a slice of the window share one. */
const MAX_ENTRIES = 128
/** Logs with one slice or none share it. */
const NONE: number[] = []

/**
 * An ordinary request reads and writes the numbers of the current slice, and no list: the lists of ten
 * thousand keys do not fit in the caches of the processor, and reading them from memory would take
 * longer than all else.
 */
export class SlidingLog {
  /** How many requests are in the window, as of the last `prune`. */
  count = 0
  /** The current slice: how many requests it has, when it ends, and when the last of them came. */
  #sliceCount = 0
  #sliceEndsAt = 0
  #sliceAt = 0
  /** When the oldest of the slices before it leaves the window; 0 without one. */
  #oldestLeavesAt = 0
  /** 0 for a quota, which has no window. */
  readonly windowMs: number
  /** Time and number of each slice before it, in turn, oldest first, from `head` on. */
  #slices: number[] = NONE
  #head = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
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

  /** Drops what has left the window. The millisecond in which it came may have been nearly over. */
  prune(now: number): void {
    if (this.#oldestLeavesAt > 0 && now > this.#oldestLeavesAt) this.#pruneSlices(now)
    if (this.#oldestLeavesAt > 0 || this.#sliceAt + this.windowMs >= now) return
    this.count -= this.#sliceCount
    this.#sliceCount = 0
    this.#sliceEndsAt = 0
  }

  /** When the oldest request leaves the window; `null` without a request in it. */
  nextLeaves(): number | null {
    if (this.#oldestLeavesAt > 0) return this.#oldestLeavesAt
    return this.#sliceCount === 0 ? null : this.#sliceAt + this.windowMs
  }

  #beginSlice(now: number, limit: number): void {
    if (this.#sliceCount > 0) {
      if (this.#slices === NONE) this.#slices = [this.#sliceAt, this.#sliceCount]
      else this.#slices.push(this.#sliceAt, this.#sliceCount)
      if (this.#oldestLeavesAt === 0) this.#oldestLeavesAt = this.#sliceAt + this.windowMs
      this.#sliceCount = 0
    }
    this.#sliceEndsAt = limit > MAX_ENTRIES ? now + Math.ceil(this.windowMs / MAX_ENTRIES) : 0
  }

  #pruneSlices(now: number): void {
    while (this.#head < this.#slices.length) {
      if ((this.#slices[this.#head] as number) + this.windowMs >= now) break
      this.count -= this.#slices[this.#head + 1] as number
      this.#head += 2
    }
    const oldest = this.#slices[this.#head]
    this.#oldestLeavesAt = oldest === undefined ? 0 : oldest + this.windowMs
    if (this.#head < 64 || this.#head * 2 < this.#slices.length) return
    this.#slices = this.#slices.slice(this.#head)
    this.#head = 0
  }
}
