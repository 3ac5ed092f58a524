/**
 * When jobs are due that this process has put back: its lanes are woken then, and need not poll for
 * them. Times are kept to a step, and none beyond a few minutes: a poll finds those.
 */
import type { Lane } from '../job.ts'
import type { Settled } from '../worker.ts'

const STEP_MS = 100
const FARTHEST_MS = 5 * 60_000

export class DueTimes {
  #onDue: () => void
  #stepMs: number
  #nowMs: () => number
  #steps = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #timerStep = Infinity

  /** `nowMs`: monotonic. */
  constructor(
    onDue: () => void,
    {
      stepMs = STEP_MS,
      nowMs = () => performance.now(),
    }: { stepMs?: number; nowMs?: () => number } = {},
  ) {
    this.#onDue = onDue
    this.#stepMs = stepMs
    this.#nowMs = nowMs
  }

  /** Notes that a job is due in `inMs` milliseconds. */
  add(inMs: number): void {
    if (inMs > FARTHEST_MS) return
    // Rounded up: a fetch that comes too early finds nothing.
    const step = Math.ceil((this.#nowMs() + inMs) / this.#stepMs)
    this.#steps.add(step)
    if (step < this.#timerStep) this.#setTimer(step)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#steps.clear()
  }

  #setTimer(step: number): void {
    clearTimeout(this.#timer)
    this.#timerStep = step
    this.#timer = setTimeout(() => this.#due(), Math.max(0, step * this.#stepMs - this.#nowMs()))
    this.#timer.unref()
  }

  #due(): void {
    const now = this.#nowMs()
    let next = Infinity
    for (const step of this.#steps) {
      if (step * this.#stepMs <= now + 1) this.#steps.delete(step)
      else next = Math.min(next, step)
    }
    this.#timerStep = Infinity
    if (next !== Infinity) this.#setTimer(next)
    this.#onDue()
  }
}

/** The same of the jobs of each lane. */
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
