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
  #now: () => number
  /** When each was logged last, the longest ago first. */
  #loggedAt = new Map<string, number>()

  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  /** Once an hour for each: an event may come a thousand times a second. */
  found(filters: readonly UndecidedFilter[]): void {
    const now = this.#now()
    for (const { recipient, why } of filters) {
      if (now - (this.#loggedAt.get(recipient) ?? -Infinity) < LOG_AGAIN_MS) continue
      this.#loggedAt.delete(recipient)
      this.#loggedAt.set(recipient, now)
      const [oldest] = this.#loggedAt.keys()
      if (this.#loggedAt.size > MOST_REMEMBERED && oldest !== undefined)
        this.#loggedAt.delete(oldest)
      this.#log.warn({ recipient }, MESSAGES[why])
    }
  }
}
