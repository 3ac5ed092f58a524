/**
 * How many jobs a pump may fetch and start: pure book-keeping over its two lanes. A fetch reserves
 * slots, which are held until the attempts of its jobs have ended. The retry lane has a few slots of
 * its own, so that neither a backlog of retries nor a backlog of first attempts keeps the other
 * waiting.
 */
import type { Lane } from '../job.ts'

interface Counts {
  reserved: number
  running: number
}

/**
 * How long a few free slots wait for others, so that one fetch fills them together: four times as long
 * as the last fetch took, within these bounds.
 */
const PAUSE_IN_DURATIONS = 4
const SHORTEST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 100

export class Slots {
  readonly concurrency: number
  readonly windows: Record<Lane, number>
  #counts: Record<Lane, Counts> = {
    first: { reserved: 0, running: 0 },
    retry: { reserved: 0, running: 0 },
  }
  /** When a few free slots of each lane are worth a fetch, by `performance.now()`. */
  #fewFrom: Record<Lane, number> = { first: 0, retry: 0 }
  #retryLaneKeepsSlots = true

  constructor(concurrency: number) {
    this.concurrency = concurrency
    // If the concurrency is one, both lanes take turns in one slot.
    const retry = Math.max(1, Math.floor(concurrency / 4))
    this.windows = { first: Math.max(1, concurrency - retry), retry }
  }

  /** Whether the retry lane's slots stay free for it, or the first lane may use them too. */
  keepForRetries(keep: boolean): void {
    this.#retryLaneKeepsSlots = keep
  }

  /**
   * Free slots that are worth a fetch now. Below a quarter of the lane they wait for more, so that a
   * fetch brings a batch, but not for long: beside receivers that hang few slots become free. `ahead`
   * jobs may be fetched before there is a slot for their attempt.
   */
  room(lane: Lane, ahead: number, now: number): number {
    const window = this.#windowOf(lane)
    const free = this.free(lane)
    const room = free + ahead
    if (room >= (window + ahead) / 4) return room
    return now >= this.#fewFrom[lane] ? Math.max(0, free) : 0
  }

  /** A fetch or a claim for the free slots of this lane has ended. */
  refilled(lane: Lane, tookMs: number, now: number): void {
    const pauseMs = Math.max(SHORTEST_PAUSE_MS, PAUSE_IN_DURATIONS * tookMs)
    this.#fewFrom[lane] = now + Math.min(LONGEST_PAUSE_MS, pauseMs)
  }

  /** Jobs that the other lane has fetched ahead do not count against this one. */
  free(lane: Lane): number {
    const { reserved } = this.#counts[lane]
    const other = lane === 'first' ? 'retry' : 'first'
    const taken = Math.min(this.#counts[other].reserved, this.#windowOf(other))
    return Math.min(this.#windowOf(lane), this.concurrency - taken) - reserved
  }

  reserve(lane: Lane, count: number): void {
    this.#counts[lane].reserved += count
  }

  /** Gives slots back in which no attempt has started. */
  release(lane: Lane, count: number): void {
    this.#counts[lane].reserved -= count
  }

  mayStart(lane: Lane): boolean {
    const { first, retry } = this.#counts
    const isFree = this.#counts[lane].running < this.#windowOf(lane)
    return isFree && first.running + retry.running < this.concurrency
  }

  start(lane: Lane): void {
    this.#counts[lane].running++
  }

  end(lane: Lane): void {
    this.#counts[lane].running--
    this.#counts[lane].reserved--
  }

  get used(): number {
    return this.#counts.first.reserved + this.#counts.retry.reserved
  }

  /** Attempts that are being made. */
  get running(): number {
    return this.#counts.first.running + this.#counts.retry.running
  }

  #windowOf(lane: Lane): number {
    return lane === 'first' && !this.#retryLaneKeepsSlots ? this.concurrency : this.windows[lane]
  }
}
