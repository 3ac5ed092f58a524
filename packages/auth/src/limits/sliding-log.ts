/** What one process has admitted in the last window, by a clock of whole milliseconds that is passed in. */
import type { Terms } from './terms.ts'

/** Up to this limit each request has its own time; beyond it, those of a slice of the window share one. */
const MAX_ENTRIES = 128
/** A slice goes on until it has this part of the limit: a key far below its limit takes no memory for more. */
const LEAST_PART = 1024
/** Logs with two slices or fewer share it. */
const NONE: number[] = []

/**
 * An ordinary request reads and writes the numbers of the current slice, and no list: the lists of ten
 * thousand keys do not fit in the caches of the processor, and reading them from memory would take
 * longer than all else.
 */
export class SlidingLog {
  terms: Terms
  /** How many requests are in the window, as of the last `prune`. */
  count = 0
  /** The current slice: how many requests it has, and when the last of them came. */
  #sliceCount = 0
  #sliceAt = 0
  /** When the oldest of the slices before it leaves the window; 0 without one. */
  #oldestLeavesAt = 0
  /**
   * The number of requests in the oldest slice, then for each later one its time of leaving and its number.
   * It is empty while the oldest is the only one: its number is `count` less that of the current slice.
   */
  #slices = NONE

  constructor(terms: Terms) {
    this.terms = terms
  }

  /**
   * `limit`: above 128, requests of one slice are counted as if all came at the time of the last, so
   * that a log never has more than about 128 entries. They may count for too long, and never too briefly.
   */
  add(at: number, limit: number): void {
    if (this.#sliceCount > 0) {
      const sliceMs = Math.ceil(this.terms.windowMs / MAX_ENTRIES)
      const isFull = this.#sliceCount * LEAST_PART >= limit
      if (limit <= MAX_ENTRIES || (isFull && at - (at % sliceMs) > this.#sliceAt)) this.endSlice()
    }
    if (at > this.#sliceAt) this.#sliceAt = at
    this.#sliceCount++
    this.count++
  }

  /** Drops what has left the window. The millisecond in which it came may have been nearly over. */
  prune(now: number): void {
    while (this.#oldestLeavesAt > 0 && now > this.#oldestLeavesAt) this.dropOldest()
    if (this.#oldestLeavesAt > 0 || this.#sliceAt + this.terms.windowMs >= now) return
    this.#sliceCount = 0
    this.count = 0
  }

  /** When the oldest request leaves the window; `null` without a request in it. */
  nextLeaves(): number | null {
    if (this.#oldestLeavesAt > 0) return this.#oldestLeavesAt
    return this.#sliceCount === 0 ? null : this.#sliceAt + this.terms.windowMs
  }

  private endSlice(): void {
    const leavesAt = this.#sliceAt + this.terms.windowMs
    if (this.#oldestLeavesAt === 0) this.#oldestLeavesAt = leavesAt
    else {
      const before = this.#slices === NONE ? [this.count - this.#sliceCount] : this.#slices
      // Unlike `push`, it makes a list without room for more.
      this.#slices = before.concat([leavesAt, this.#sliceCount])
    }
    this.#sliceCount = 0
  }

  private dropOldest(): void {
    const [count = this.count - this.#sliceCount, leavesAt = 0] = this.#slices
    this.count -= count
    this.#oldestLeavesAt = leavesAt
    this.#slices = this.#slices.length > 3 ? this.#slices.slice(2) : NONE
  }
}
