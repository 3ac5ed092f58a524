/** One place, handed on in the order of asking. */
export class Lane {
  #taken = false
  readonly #waiting = new Set<() => void>()

  /** Calls `admitted` when the place is free, now or later. */
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

  /** Stops waiting. False where it does not wait. */
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
