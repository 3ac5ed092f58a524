/** A slot that one holder has at a time. The others get it in the order in which they asked. */
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
