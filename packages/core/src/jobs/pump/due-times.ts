/**
 * When jobs of a lane are due that this process has put back: the lane is woken then, and need not poll for
 * them. Times are kept to a step, and none beyond a few minutes: a poll finds those.
 */
const STEP_MS = 100
const FARTHEST_MS = 5 * 60_000

export class DueTimes {
  #onDue: () => void
  #nowMs: () => number
  #steps = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #timerStep = Infinity

  /** `nowMs`: monotonic. */
  constructor(onDue: () => void, nowMs: () => number = () => performance.now()) {
    this.#onDue = onDue
    this.#nowMs = nowMs
  }

  add(inMs: number): void {
    if (inMs > FARTHEST_MS) return
    // Rounded up: a fetch that comes too early finds nothing.
    const step = Math.ceil((this.#nowMs() + inMs) / STEP_MS)
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
    this.#timer = setTimeout(() => this.#due(), Math.max(0, step * STEP_MS - this.#nowMs()))
    this.#timer.unref()
  }

  #due(): void {
    const now = this.#nowMs()
    let next = Infinity
    for (const step of this.#steps) {
      if (step * STEP_MS <= now + 1) this.#steps.delete(step)
      else next = Math.min(next, step)
    }
    this.#timerStep = Infinity
    if (next !== Infinity) this.#setTimer(next)
    this.#onDue()
  }
}
