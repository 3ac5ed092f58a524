/** The longest that a caller waits for `svc.health`. */
export const HEALTH_TIMEOUT_MS = 2000

/**
 * Calls of the same moment share one answer of Postgres: while it does not answer, health checks must
 * not pile up on the pool. New callers do not join a call that is older than `sharedForMs`, since its
 * connection may be dead.
 */
export class SharedCall<T> {
  #call: () => Promise<T>
  #sharedForMs: number
  #pending: { answer: Promise<T>; calledAt: number } | undefined
  #last: { answer: T; at: number } | undefined

  constructor(call: () => Promise<T>, sharedForMs: number) {
    this.#call = call
    this.#sharedForMs = sharedForMs
  }

  answer(): Promise<T> {
    const now = performance.now()
    if (this.#pending && now - this.#pending.calledAt < this.#sharedForMs) {
      return this.#pending.answer
    }
    const pending = { answer: this.#call(), calledAt: now }
    const forget = () => {
      if (this.#pending === pending) this.#pending = undefined
    }
    pending.answer.then((answer) => {
      this.#last = { answer, at: performance.now() }
      forget()
    }, forget)
    this.#pending = pending
    return pending.answer
  }

  /** The last answer, where it is not older than `ms`. */
  async recent(ms: number): Promise<T> {
    const last = this.#last
    return last && performance.now() - last.at < ms ? last.answer : this.answer()
  }
}
