/** When the jobs of each lane are due that this process has put back. */
import type { Lane } from '../job.ts'
import type { Settled } from '../worker.ts'
import { DueTimes } from './due-times.ts'

export class LaneDueTimes {
  #first: DueTimes
  #retry: DueTimes

  constructor(wake: (lane: Lane) => void) {
    this.#first = new DueTimes(() => wake('first'))
    this.#retry = new DueTimes(() => wake('retry'))
  }

  /** A postponed job that is due at once stays in its lane, which is either. */
  note({ result, nextAttemptInMs }: Settled): void {
    if (nextAttemptInMs === null) return
    this.#retry.add(nextAttemptInMs)
    if (result === 'postponed') this.#first.add(nextAttemptInMs)
  }

  stop(): void {
    this.#first.stop()
    this.#retry.stop()
  }
}
