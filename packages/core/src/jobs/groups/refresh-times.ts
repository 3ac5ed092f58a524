/** When the table of groups is read again: pure book-keeping. */

const EVERY_MS = 1000
/** Without rows in the table, and without a notification. */
const EVERY_IDLE_MS = 5000
/** How many times its own duration a refresh makes the next one wait: the table may be long. */
const PAUSE_IN_DURATIONS = 10

export class RefreshTimes {
  /** 0: as soon as may be. */
  #at = 0
  #notBefore = 0
  #beganAt = 0

  /** The table has changed. */
  soon(): void {
    this.#at = 0
  }

  isDue(now: number): boolean {
    return now >= Math.max(this.#at, this.#notBefore)
  }

  began(now: number): void {
    this.#beganAt = now
    this.#at = Infinity
  }

  ended(now: number, hasRows: boolean): void {
    // A change meanwhile has set it to 0.
    if (this.#at === Infinity) this.#at = now + (hasRows ? EVERY_MS : EVERY_IDLE_MS)
    this.#notBefore = now + Math.min(EVERY_MS, PAUSE_IN_DURATIONS * (now - this.#beganAt))
  }

  /** How long a refresh after a change still waits; `Infinity` without a change. */
  pendingInMs(now: number): number {
    return this.#at === 0 ? Math.max(0, this.#notBefore - now) : Infinity
  }
}
