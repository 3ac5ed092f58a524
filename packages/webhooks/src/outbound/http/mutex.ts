/** A slot that one holder has at a time. Waiting callers get it in their order. */
export class Mutex {
  #taken = false
  readonly #waiting = new Set<() => void>()

  /** Calls `admitted` when the slot is free, now or later. */
  enter(admitted: () => void): void {
    if (this.#taken) {
      this.#waiting.add(admitted)
      return
    }
    this.#taken = true
    admitted()
  }

  isWaiting(admitted: () => void): boolean {
    return this.#waiting.has(admitted)
  }

  /** Stops waiting. Returns false where it was not waiting. */
  withdraw(admitted: () => void): boolean {
    return this.#waiting.delete(admitted)
  }

  leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken = false
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
