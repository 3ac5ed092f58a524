/** Jobs that were fetched ahead: prepared, and waiting for a free slot. */
import { LANES, type Lane } from '../job.ts'

export class WaitingAttempts<Attempt extends { lane: Lane; fetchedAt: number }> {
  #inLane: Record<Lane, Attempt[]> = { first: [], retry: [] }

  get isEmpty(): boolean {
    return LANES.every((lane) => this.#inLane[lane].length === 0)
  }

  add(attempt: Attempt): void {
    this.#inLane[attempt.lane].push(attempt)
  }

  /** Takes the attempt that was fetched first, of the lanes that have a free slot. */
  takeNext(mayStart: (lane: Lane) => boolean): Attempt | undefined {
    let oldest: Attempt | undefined
    for (const lane of LANES) {
      const [first] = this.#inLane[lane]
      if (!first || !mayStart(lane)) continue
      if (!oldest || first.fetchedAt < oldest.fetchedAt) oldest = first
    }
    return oldest && this.#inLane[oldest.lane].shift()
  }

  /** Takes those that were fetched at `fetchedBy` or before. */
  takeOverdue(fetchedBy: number): Attempt[] {
    return LANES.flatMap((lane) => {
      const waiting = this.#inLane[lane]
      const firstToStay = waiting.findIndex(({ fetchedAt }) => fetchedAt > fetchedBy)
      return waiting.splice(0, firstToStay === -1 ? waiting.length : firstToStay)
    })
  }
}
