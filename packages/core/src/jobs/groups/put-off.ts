/** What could not be carried out, by its id, and until when it is left alone in this process. */
const SHORTEST_MS = 1000
const LONGEST_MS = 10 * 60_000
/** Another process may have carried it out: after this time without a failure it is forgotten. */
const FORGOTTEN_AFTER_MS = 3600_000
/** A timer counts whole milliseconds of another clock, and may end that much early. */
const TIMER_MS = 5

interface Failures {
  count: number
  /** By the monotonic clock. */
  dueAt: number
}

export class PutOff {
  #failures = new Map<string, Failures>()
  #nowMs: () => number

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /**
   * Returns in how many milliseconds it is tried again: each time twice as many, and not fewer than the
   * failure took.
   */
  failed(id: string, tookMs: number): number {
    const now = this.#nowMs()
    for (const [other, { dueAt }] of this.#failures) {
      if (now - dueAt > FORGOTTEN_AFTER_MS) this.#failures.delete(other)
    }
    const count = this.#failures.get(id)?.count ?? 0
    const backOffMs = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** Math.min(count, 20))
    const waitMs = Math.ceil(Math.max(backOffMs, tookMs))
    this.#failures.set(id, { count: count + 1, dueAt: now + waitMs })
    return waitMs
  }

  succeeded(id: string): void {
    this.#failures.delete(id)
  }

  /** The ids of those that are not tried now. */
  ids(): string[] {
    const now = this.#nowMs()
    return [...this.#failures].flatMap(([id, { dueAt }]) => (dueAt > now + TIMER_MS ? [id] : []))
  }

  /** The milliseconds until the next one is due; `null` without any that is put off. */
  dueInMs(): number | null {
    const now = this.#nowMs()
    const waits = [...this.#failures.values()].flatMap(({ dueAt }) =>
      dueAt > now + TIMER_MS ? dueAt - now : [],
    )
    return waits.length === 0 ? null : Math.min(...waits)
  }
}
