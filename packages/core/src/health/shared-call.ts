/** The longest that anybody waits for `svc.health`. */
export const HEALTH_TIMEOUT_MS = 2000

/**
 * Calls of the same moment share one question to Postgres: while it does not answer, probes must not
 * pile up on the pool. A question that has waited for long is not waited for by new callers, since its
 * connection may never come to life again.
 */
export class SharedCall<T> {
  #ask: () => Promise<T>
  #sharedForMs: number
  #pending: { answer: Promise<T>; askedAt: number } | undefined

  constructor(ask: () => Promise<T>, sharedForMs: number) {
    this.#ask = ask
    this.#sharedForMs = sharedForMs
  }

  answer(): Promise<T> {
    const now = performance.now()
    if (this.#pending && now - this.#pending.askedAt < this.#sharedForMs) {
      return this.#pending.answer
    }
    const pending = { answer: this.#ask(), askedAt: now }
    const forget = () => {
      if (this.#pending === pending) this.#pending = undefined
    }
    pending.answer.then(forget, forget)
    this.#pending = pending
    return pending.answer
  }
}
