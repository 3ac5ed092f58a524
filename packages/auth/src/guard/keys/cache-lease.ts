/**
 * For how long this process may trust its cache of keys. Every change of keys raises one number in
 * Postgres, the revision, and names the keys to drop from the cache. The process reads it every 400
 * ms. For 900 ms from when a reading was sent, the cache is at most that much out of date; after
 * that the lease has ended, and no request is decided from the cache. While no request needs it,
 * the lease is left to end: a host without traffic sends no queries for it, and the next request
 * waits for one reading.
 */
import { Timer } from '@svc/core/internal'
import type { KeyChanges, Revision } from '../../tables/key-changes.ts'
import { OutageLog, type Log } from '../../outage-log.ts'

export interface CacheLeaseParts {
  readKeyChanges: (since: Revision) => Promise<KeyChanges>
  /** Keys by their hashes, and plans; `null`: all of them. */
  forget: (changed: readonly string[] | null) => void
  /**
   * Refreshes other state that requests are decided from. It reads only from tables of svcAuth: the
   * lease must not wait for a table that the application uses.
   */
  refresh: () => Promise<void>
  log: Log
  /** Milliseconds of a monotonic clock. @default performance.now */
  now?: () => number
}

const POLL_MS = 400
/**
 * How long the lease lasts from the moment at which a reading was sent. With the duration of the
 * poll a revocation takes less than 1 s.
 */
const LEASE_MS = 900
/** How long without a request the lease is still renewed. */
const IDLE_AFTER_MS = 30_000

export class CacheLease {
  #parts: CacheLeaseParts
  #outage: OutageLog
  #now: () => number
  /** What was read last. */
  #last: Revision = { revision: -1, mark: null }
  #trustedUntil = 0
  /** When a request last needed the lease. */
  #askedAt: number
  #isPaused = false
  #sentAt = -Infinity
  #reading: Promise<void> | undefined
  #timer = new Timer(() => this.#poll())
  #isStarted = false

  constructor(parts: CacheLeaseParts) {
    this.#parts = parts
    this.#now = parts.now ?? (() => performance.now())
    this.#askedAt = this.#now()
    this.#outage = new OutageLog(
      parts.log,
      'could not read key changes; cached keys are not trusted until it works',
      'reading key changes works again',
    )
  }

  /**
   * Called for each request. It uses a monotonic clock: setting the wall clock back prolongs no
   * lease.
   */
  isHeld(): boolean {
    const now = this.#now()
    this.#askedAt = now
    return now < this.#trustedUntil
  }

  /** Whether reading is paused because there are no requests. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  /**
   * Queries Postgres at once; concurrent callers share a reading. Rejects where it does not answer.
   */
  renew(): Promise<void> {
    if (this.#reading && this.#now() - this.#sentAt < POLL_MS) return this.#reading
    const reading = this.#read().finally(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    this.#reading = reading
    return reading
  }

  start(): void {
    this.#isStarted = true
    this.#pollLater()
  }

  /**
   * Call this on a notification of a change. The next read then happens at once instead of at its
   * time.
   */
  wake(): void {
    if (!this.#isStarted || this.#isPaused) return
    this.#timer.clear()
    this.#sentAt = -Infinity // a pending reading may have been sent before the change
    void this.#poll()
  }

  stop(): void {
    this.#isStarted = false
    this.#timer.clear()
  }

  #pollLater(): void {
    if (!this.#isStarted) return
    this.#timer.clear()
    this.#isPaused = this.#now() - this.#askedAt > IDLE_AFTER_MS
    if (this.#isPaused) return
    this.#timer.set(POLL_MS)
  }

  /** A reading that fails does not prolong the lease. */
  async #poll(): Promise<void> {
    try {
      await this.renew()
      this.#outage.succeeded()
    } catch (error) {
      if (this.#isStarted) this.#outage.failed(error)
    }
    this.#pollLater()
  }

  async #read(): Promise<void> {
    const sentAt = this.#now()
    this.#sentAt = sentAt
    const since = this.#last
    const { readKeyChanges, refresh } = this.#parts
    const [changes] = await Promise.all([readKeyChanges(since), refresh()])
    this.#apply(changes, since)
    this.#trustedUntil = Math.max(this.#trustedUntil, sentAt + LEASE_MS)
    if (this.#isPaused) this.#pollLater()
  }

  /** Readings can overtake one another: an older one is ignored. */
  #apply({ revision, mark, changed }: KeyChanges, since: Revision): void {
    const last = this.#last
    if (revision === last.revision && mark === last.mark) return
    if (revision < last.revision && since !== last) return
    // What changed since another state may lack what the last one had, if the database went back.
    this.#parts.forget(since === last && revision >= since.revision ? changed : null)
    this.#last = { revision, mark }
  }
}
