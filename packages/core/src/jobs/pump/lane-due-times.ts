/** When the jobs of each lane are due that this process has put back. */
import type { Lane } from '../job.ts'
import type { Settled } from '../worker.ts'
import { DueTimes } from './due-times.ts'

/** Retries of groups whose circuit is open are parked together, those of so long a time. */
const PARK_STEP_MS = 500

interface Parts {
  wake: (lane: Lane) => void
  /** Retries are due. Those of groups with an open circuit are brought by no fetch. */
  parkDue: () => void
}

export class LaneDueTimes {
  #first: DueTimes
  #retry: DueTimes
  #withOpenCircuit: DueTimes

  constructor({ wake, parkDue }: Parts) {
    const retriesDue = () => {
      // Circuits may have been opened or closed since then.
      parkDue()
      wake('retry')
    }
    this.#first = new DueTimes(() => wake('first'))
    this.#retry = new DueTimes(retriesDue)
    this.#withOpenCircuit = new DueTimes(retriesDue, { stepMs: PARK_STEP_MS })
  }

  /** A postponed job stays in its lane, which is either. */
  note({ result, nextAttemptInMs }: Settled, isCircuitOpen: boolean): void {
    if (nextAttemptInMs === null) return
    const retries = isCircuitOpen ? this.#withOpenCircuit : this.#retry
    retries.add(nextAttemptInMs)
    if (result === 'postponed') this.#first.add(nextAttemptInMs)
  }

  stop(): void {
    for (const times of [this.#first, this.#retry, this.#withOpenCircuit]) times.stop()
  }
}
