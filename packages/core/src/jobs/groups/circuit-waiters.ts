/**
 * Functions that wait until the circuit of their group is in the table of groups, but not for long:
 * other transactions may hold its row.
 */
const LONGEST_WAIT_MS = 500

export class CircuitWaiters {
  #waiting = new Map<string, (() => void)[]>()

  add(group: string, run: () => void): void {
    let hasRun = false
    const once = () => {
      if (hasRun) return
      hasRun = true
      clearTimeout(timer)
      run()
    }
    const timer = setTimeout(once, LONGEST_WAIT_MS)
    this.#waiting.set(group, [...(this.#waiting.get(group) ?? []), once])
  }

  /** The circuits of these groups are in the table, or could not be written. */
  written(groups: Iterable<string>): void {
    for (const group of groups) {
      const waiting = this.#waiting.get(group) ?? []
      this.#waiting.delete(group)
      for (const run of waiting) run()
    }
  }

  /** None waits any longer. */
  close(): void {
    this.written([...this.#waiting.keys()])
  }
}
