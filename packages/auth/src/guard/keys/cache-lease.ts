/**
 * How long this process may trust what it remembers. Every change of keys, by whomever, raises one
 * number in Postgres, the epoch, and names the keys to forget. The number is read again and again;
 * for a moment after it was asked for, nothing can have been missed.
 */
import type { KeyChanges } from '../../tables/key-changes.ts'

export interface LeaseParts {
  readChanges: (since: number) => Promise<KeyChanges>
  forget: (dropped: readonly string[] | null) => void
  /**
   * Anything else that has to be fresh as well, or no request may be decided from memory. It reads
   * from tables of svcAuth alone: the lease must not wait for a table that the application uses.
   */
  refresh: () => Promise<void>
  /** Milliseconds of a monotonic clock. @default performance.now */
  now?: () => number
}

const POLL_MS = 400
/** From when a reading was sent. With the poll's own time this keeps a revocation under 1 s. */
const LEASE_MS = 900

export class Lease {
  #parts: LeaseParts
  #now: () => number
  #epoch = -1
  #trustedUntil = 0
  #sentAt = -Infinity
  #reading: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #started = false

  constructor(parts: LeaseParts) {
    this.#parts = parts
    this.#now = parts.now ?? (() => performance.now())
  }

  /** A monotonic clock: setting the wall clock back prolongs nothing. */
  isHeld(): boolean {
    return this.#now() < this.#trustedUntil
  }

  /** Asks Postgres at once, together with all others who ask now. Rejects where it does not answer. */
  renew(): Promise<void> {
    if (this.#reading && this.#now() - this.#sentAt < POLL_MS) return this.#reading
    const reading = this.#read().finally(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    this.#reading = reading
    return reading
  }

  start(): void {
    this.#started = true
    this.#later()
  }

  /** Somebody says that there is news. Only ever makes a reading come early. */
  wake(): void {
    if (!this.#started) return
    clearTimeout(this.#timer)
    this.#sentAt = -Infinity // a reading under way may have been sent before the news
    void this.#poll()
  }

  stop(): void {
    this.#started = false
    clearTimeout(this.#timer)
  }

  #later(): void {
    if (!this.#started) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#poll(), POLL_MS)
    this.#timer.unref()
  }

  /** A reading that fails says so by not prolonging the lease. */
  async #poll(): Promise<void> {
    await this.renew().catch(() => {})
    this.#later()
  }

  async #read(): Promise<void> {
    const sentAt = this.#now()
    this.#sentAt = sentAt
    const since = this.#epoch
    const [changes] = await Promise.all([this.#parts.readChanges(since), this.#parts.refresh()])
    this.#apply(changes, since)
    this.#trustedUntil = Math.max(this.#trustedUntil, sentAt + LEASE_MS)
  }

  /** Readings may overtake one another: an older one has nothing to add. */
  #apply({ epoch, dropped }: KeyChanges, since: number): void {
    if (epoch === this.#epoch || (epoch < this.#epoch && since < this.#epoch)) return
    // A number below the one that was asked about: the database was set back, nothing is certain.
    this.#parts.forget(since === -1 || epoch < since ? null : dropped)
    this.#epoch = epoch
  }
}
