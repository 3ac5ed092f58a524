/**
 * Outcomes that Postgres refused to record, each tried again alone and after a pause: those that come
 * meanwhile do not wait for them.
 */
import { isLockConflict } from '../../migrations/lock-retries.ts'
import type { JobOutcome } from '../worker.ts'

interface Refused {
  outcome: JobOutcome
  dueAt: number
}

interface History {
  tries: number
  firstAt: number
}

const TRIES = 5
/** How long an outcome waits for a row that a transaction of the host holds. */
const WAITS_FOR_A_LOCK_MS = 150_000
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

export class RefusedOutcomes {
  #refused: Refused[] = []
  #histories = new WeakMap<JobOutcome, History>()
  #nowMs: () => number

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  get size(): number {
    return this.#refused.length
  }

  /** Returns whether it is tried again: not for ever. A host that closes waits for no lock. */
  add(outcome: JobOutcome, error: unknown, isClosing: boolean): boolean {
    const now = this.#nowMs()
    const { tries, firstAt } = this.#histories.get(outcome) ?? { tries: 0, firstAt: now }
    this.#histories.set(outcome, { tries: tries + 1, firstAt })
    const isGivenUp = isLockConflict(error)
      ? now - firstAt > WAITS_FOR_A_LOCK_MS || (isClosing && tries > 0)
      : tries + 1 >= TRIES
    if (isGivenUp) return false
    const pauseMs = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** tries)
    this.#refused.push({ outcome, dueAt: now + pauseMs })
    return true
  }

  /** Milliseconds until the next one is due; `Infinity` without any. */
  dueInMs(): number {
    const first = this.#refused.reduce((least, { dueAt }) => Math.min(least, dueAt), Infinity)
    return Math.max(0, first - this.#nowMs())
  }

  /** At most one. `isAny`: whether it is due or not. */
  takeDue(isAny: boolean): JobOutcome[] {
    const now = this.#nowMs()
    const place = this.#refused.findIndex(({ dueAt }) => isAny || dueAt <= now)
    return place === -1 ? [] : this.#refused.splice(place, 1).map(({ outcome }) => outcome)
  }
}
