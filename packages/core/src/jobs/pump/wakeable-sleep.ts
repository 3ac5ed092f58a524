/** Interruptible sleep. `wake` ends the current sleep; without one, the next sleep returns at once. */
export class WakeableSleep {
  #isWoken = false
  #wake: (() => void) | undefined

  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  /** Ends the current sleep, and no later one. */
  interrupt(): void {
    this.#wake?.()
  }

  async sleep(ms: number): Promise<void> {
    if (!this.#isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      this.#wake = resolve
      await promise
      clearTimeout(timer)
      this.#wake = undefined
    }
    this.#isWoken = false
  }
}
