/**
 * How many jobs may be claimed and started: pure book-keeping over the two lanes of a pump. The
 * slow lane has a small window of its own, so that neither a backlog of retries nor one of fresh
 * jobs keeps the other waiting.
 */
import type { Lane } from '../job.ts'

interface Counts {
  /** Claimed and not ended, or about to be claimed by a fetch under way. */
  claimed: number
  running: number
}

export class Lanes {
  readonly concurrency: number
  readonly windows: Record<Lane, number>
  #counts: Record<Lane, Counts> = {
    fresh: { claimed: 0, running: 0 },
    slow: { claimed: 0, running: 0 },
  }

  /**
   * Whether the slow lane's places are kept free for it. Where nothing waits in it the fresh lane
   * may have them too.
   */
  reserved = true

  constructor(concurrency: number) {
    this.concurrency = concurrency
    // With a concurrency of one both lanes take turns in it.
    const slow = Math.max(1, Math.floor(concurrency / 4))
    this.windows = { fresh: Math.max(1, concurrency - slow), slow }
  }

  /**
   * How many jobs a fetch may claim, `ahead` of them beyond what can start; 0 rather than less
   * than a quarter, so that a fetch brings a batch and not a trickle.
   */
  room(lane: Lane, ahead: number): number {
    const claimed = this.#counts.fresh.claimed + this.#counts.slow.claimed
    const window = this.#windowOf(lane)
    const room = Math.min(
      window + ahead - this.#counts[lane].claimed,
      this.concurrency + ahead - claimed,
    )
    return room >= (window + ahead) / 4 ? room : 0
  }

  /** Places that are free, be they worth a fetch of their own or not. */
  places(lane: Lane): number {
    return Math.min(
      this.#windowOf(lane) - this.#counts[lane].claimed,
      this.concurrency - this.claimed,
    )
  }

  mayStart(lane: Lane): boolean {
    const { fresh, slow } = this.#counts
    return (
      this.#counts[lane].running < this.#windowOf(lane) &&
      fresh.running + slow.running < this.concurrency
    )
  }

  #windowOf(lane: Lane): number {
    return lane === 'fresh' && !this.reserved ? this.concurrency : this.windows[lane]
  }

  claim(lane: Lane, jobs: number): void {
    this.#counts[lane].claimed += jobs
  }

  start(lane: Lane): void {
    this.#counts[lane].running++
  }

  end(lane: Lane, wasRunning: boolean): void {
    this.#counts[lane].claimed--
    if (wasRunning) this.#counts[lane].running--
  }

  get claimed(): number {
    return this.#counts.fresh.claimed + this.#counts.slow.claimed
  }
}
