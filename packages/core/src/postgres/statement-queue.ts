/** One task at a time, urgent ones before those that wait. */
export class StatementQueue {
  #waiting: { isUrgent: boolean; start: () => void }[] = []
  #isTaken = false
  #since = -Infinity

  /** How long the task under way has been running, in milliseconds; 0 where there is none. */
  get takenForMs(): number {
    return this.#isTaken ? performance.now() - this.#since : 0
  }

  async run<T>(task: () => Promise<T>, { isUrgent = false } = {}): Promise<T> {
    await this.#turn(isUrgent)
    this.#since = performance.now()
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next) next.start()
      else this.#isTaken = false
    }
  }

  #turn(isUrgent: boolean): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true
      return Promise.resolve()
    }
    return new Promise((start) => {
      const end = this.#waiting.length
      const place = isUrgent ? this.#waiting.findIndex((other) => !other.isUrgent) : end
      this.#waiting.splice(place === -1 ? end : place, 0, { isUrgent, start })
    })
  }
}
