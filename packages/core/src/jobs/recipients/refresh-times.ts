/** When the table of recipients is read again: pure book-keeping. */

const EVERY_MS = 1000
/** Without rows in the table, and where changes are notified and no job comes. */
const EVERY_IDLE_MS = 5000
/**
 * How many times its own duration a refresh makes the next one wait, also after a change and, where
 * changes are notified, without one: the table may be long.
 */
const PAUSE_IN_DURATIONS = 10
const NOTIFIED_PAUSE_IN_DURATIONS = 50

export class RefreshTimes {
  /** 0: as soon as may be. */
  #at = 0
  #notBefore = 0
  #beganAt = 0

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

  /** `isIdle`: no job has come for a while. */
  ended(now: number, table: { hasRows: boolean; isNotified: boolean; isIdle: boolean }): void {
    const tookMs = now - this.#beganAt
    const { hasRows, isNotified, isIdle } = table
    const isRare = !hasRows || (isNotified && isIdle)
    const longMs = isNotified ? NOTIFIED_PAUSE_IN_DURATIONS * tookMs : 0
    const everyMs = isRare ? EVERY_IDLE_MS : Math.min(EVERY_IDLE_MS, Math.max(EVERY_MS, longMs))
    // A change meanwhile has set it to 0.
    if (this.#at === Infinity) this.#at = now + everyMs
    this.#notBefore = now + Math.min(EVERY_MS, PAUSE_IN_DURATIONS * tookMs)
  }

  /** How long a refresh after a change still waits; `Infinity` without a change. */
  pendingInMs(now: number): number {
    return this.#at === 0 ? Math.max(0, this.#notBefore - now) : Infinity
  }
}
