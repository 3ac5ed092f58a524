/**
 * Polls for rows that were inserted after their keys were refused, as by an import or a restore. No
 * request waits for it, and the lease of the cache does not depend on it.
 */
import type { InsertedKeys } from '../../tables/inserted-keys.ts'
import { OutageLog, type Log } from '../../outage-log.ts'

export interface InsertedKeysPollerParts {
  findInsertedKeys: (since: string | null) => Promise<InsertedKeys>
  /** `null`: any row may be new. */
  forgetRejections: (hashes: readonly string[] | null) => void
  /**
   * Whether no request needs keys. Then nothing is read until the lease of the cache is renewed.
   */
  isPaused?: () => boolean
  log: Log
}

const POLL_MS = 400

export class InsertedKeysPoller {
  #parts: InsertedKeysPollerParts
  #outage: OutageLog
  #snapshot: string | null = null
  #timer: NodeJS.Timeout | undefined
  #isStarted = false

  constructor(parts: InsertedKeysPollerParts) {
    this.#parts = parts
    this.#outage = new OutageLog(
      parts.log,
      'could not read inserted keys; a key that was refused before stays refused',
      'reading inserted keys works again',
    )
  }

  /** Resolves after the first poll, which drops every rejection from the cache. */
  start(): Promise<void> {
    this.#isStarted = true
    return this.#pollAgain()
  }

  stop(): void {
    this.#isStarted = false
    clearTimeout(this.#timer)
  }

  async poll(): Promise<void> {
    const { snapshot, hashes } = await this.#parts.findInsertedKeys(this.#snapshot)
    this.#parts.forgetRejections(hashes)
    this.#snapshot = snapshot
  }

  /** The poll after a failed one reads what that one has missed. */
  async #pollAgain(): Promise<void> {
    try {
      if (!this.#parts.isPaused?.()) await this.poll()
      this.#outage.succeeded()
    } catch (error) {
      if (this.#isStarted) this.#outage.failed(error)
    }
    if (!this.#isStarted) return
    this.#timer = setTimeout(() => void this.#pollAgain(), POLL_MS)
    this.#timer.unref()
  }
}
