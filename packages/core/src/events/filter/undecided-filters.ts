/** Says in the log which recipients get no events, since their filters could not be decided. */

/** A recipient that is sent nothing, and why. */
export interface UndecidedFilter {
  recipient: string
  why: 'unreadable' | 'costly'
}

const MESSAGES = {
  unreadable:
    'this version cannot read the filter of a webhook, so events published here are not sent to it: update this host, or set another filter',
  costly:
    'the filter of a webhook takes too many steps for an event with long lists, so the event is not sent to it: set a filter with fewer conditions',
}

interface Log {
  warn(details: object, message: string): void
}

const LOG_AGAIN_MS = 3_600_000
const MOST_REMEMBERED = 10_000

export class UndecidedFilters {
  #log: Log
  /** Those that were logged since then. */
  #logged = new Set<string>()
  #since = -Infinity

  constructor(log: Log) {
    this.#log = log
  }

  /** Once an hour for each: an event may come a thousand times a second. */
  found(filters: readonly UndecidedFilter[]): void {
    const now = performance.now()
    if (now - this.#since >= LOG_AGAIN_MS || this.#logged.size >= MOST_REMEMBERED) {
      this.#logged.clear()
      this.#since = now
    }
    for (const { recipient, why } of filters) {
      if (this.#logged.has(recipient)) continue
      this.#logged.add(recipient)
      this.#log.warn({ recipient }, MESSAGES[why])
    }
  }
}
