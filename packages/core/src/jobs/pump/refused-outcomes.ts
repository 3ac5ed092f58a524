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

const TRIES = 5
/** A transaction of the host holds a row that the outcome changes: about two and a half minutes. */
const TRIES_FOR_A_LOCK = 30
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

export class RefusedOutcomes {
  #refused: Refused[] = []
  #tries = new WeakMap<JobOutcome, number>()
  #nowMs: () => number

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  get size(): number {
    return this.#refused.length
  }

  /** Returns whether it is tried again: not for ever, and seldom while the host closes. */
  add(outcome: JobOutcome, error: unknown, isClosing: boolean): boolean {
    const tries = (this.#tries.get(outcome) ?? 0) + 1
    this.#tries.set(outcome, tries)
    const most = isLockConflict(error) && !isClosing ? TRIES_FOR_A_LOCK : TRIES
    if (tries >= most) return false
    const pauseMs = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** (tries - 1))
    this.#refused.push({ outcome, dueAt: this.#nowMs() + pauseMs })
    return true
  }

  /** Milliseconds until the next one is due; `Infinity` without any. */
  dueInMs(): number {
    const first = Math.min(...this.#refused.map(({ dueAt }) => dueAt))
    return Math.max(0, first - this.#nowMs())
  }

  /** `isAny`: whether it is due or not. */
  takeDue(isAny: boolean): JobOutcome | undefined {
    const now = this.#nowMs()
    const place = this.#refused.findIndex(({ dueAt }) => isAny || dueAt <= now)
    return place === -1 ? undefined : this.#refused.splice(place, 1)[0]?.outcome
  }
}
