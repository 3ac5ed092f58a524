/** Says in the log which recipients get no events, since this version cannot read their filters. */

interface Log {
  warn(details: object, message: string): void
}

const SAY_AGAIN_MS = 3_600_000
const MOST_REMEMBERED = 10_000

export class UnreadableFilters {
  #log: Log
  #now: () => number
  /** When each was named last, the longest ago first. */
  #saidAt = new Map<string, number>()

  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  /** Once an hour for each: an event may come a thousand times a second. */
  found(recipients: readonly string[]): void {
    const now = this.#now()
    for (const recipient of recipients) {
      if (now - (this.#saidAt.get(recipient) ?? -Infinity) < SAY_AGAIN_MS) continue
      this.#saidAt.delete(recipient)
      this.#saidAt.set(recipient, now)
      const [oldest] = this.#saidAt.keys()
      if (this.#saidAt.size > MOST_REMEMBERED && oldest !== undefined) this.#saidAt.delete(oldest)
      this.#log.warn(
        { recipient },
        'this version cannot read the filter of a webhook, which is sent nothing that is published here: update this host, or set another filter',
      )
    }
  }
}
