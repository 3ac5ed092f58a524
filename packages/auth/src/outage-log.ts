/** Logs when a repeated task begins to fail and when it works again, not every try in between. */
export interface Log {
  warn(details: object, message: string): void
  info(details: object, message: string): void
}

export class OutageLog {
  #log: Log
  #began: string
  #ended: string
  #isOut = false

  constructor(log: Log, began: string, ended: string) {
    this.#log = log
    this.#began = began
    this.#ended = ended
  }

  failed(error: unknown): void {
    if (this.#isOut) return
    this.#isOut = true
    this.#log.warn({ reason: (error as Error).message }, this.#began)
  }

  succeeded(): void {
    if (!this.#isOut) return
    this.#isOut = false
    this.#log.info({}, this.#ended)
  }
}

const RARE_MS = 60_000

/** Logs a warning at most once a minute. */
export class RareLog {
  #log: Log
  #message: string
  #now: () => number
  #nextAt = -Infinity

  /** `now`: milliseconds of a monotonic clock. */
  constructor(log: Log, message: string, now: () => number) {
    this.#log = log
    this.#message = message
    this.#now = now
  }

  warn(details: object): void {
    const now = this.#now()
    if (now < this.#nextAt) return
    this.#nextAt = now + RARE_MS
    this.#log.warn(details, this.#message)
  }
}
