/**
 * How many jobs a pump may fetch: pure book-keeping over its two lanes. A job holds a slot from
 * before its fetch until its attempt has ended. The retry lane has a few slots of its own, so that
 * neither a backlog of retries nor a backlog of first attempts keeps the other waiting.
 */
import type { Lane } from '../job.ts'

export class Slots {
  readonly concurrency: number
  /** Slots of each lane. */
  readonly windows: Record<Lane, number>
  #reserved: Record<Lane, number> = { first: 0, retry: 0 }
  #retryLaneKeepsSlots = true

  constructor(concurrency: number) {
    this.concurrency = concurrency
    // With a concurrency of one both lanes take turns in one slot.
    const retry = Math.max(1, Math.floor(concurrency / 4))
    this.windows = { first: Math.max(1, concurrency - retry), retry }
  }

  /** Whether the retry lane's slots stay free for it, or the first lane may use them too. */
  keepForRetries(keep: boolean): void {
    this.#retryLaneKeepsSlots = keep
  }

  /** Free slots that are worth a fetch: none below a quarter, so that a fetch brings a batch. */
  room(lane: Lane): number {
    const free = this.free(lane)
    return free >= this.#windowOf(lane) / 4 ? free : 0
  }

  free(lane: Lane): number {
    return Math.min(this.#windowOf(lane) - this.#reserved[lane], this.concurrency - this.used)
  }

  reserve(lane: Lane, count: number): void {
    this.#reserved[lane] += count
  }

  release(lane: Lane, count: number): void {
    this.#reserved[lane] -= count
  }

  get used(): number {
    return this.#reserved.first + this.#reserved.retry
  }

  #windowOf(lane: Lane): number {
    return lane === 'first' && !this.#retryLaneKeepsSlots ? this.concurrency : this.windows[lane]
  }
}
