/**
 * Keys that were changed in transactions of callers. This process gets no notification when such a
 * transaction ends, so it polls for the end. Until then it does not cache these keys, and queries
 * Postgres for every request with one of them. Therefore a revocation takes effect as soon as it is
 * committed, and has no effect if it is rolled back.
 */
import { Timer } from '@svc/core/internal'
import type { KeyCache } from './key-cache.ts'

/** Which of these transactions have ended. */
type FindEnded = (transactionIds: string[]) => Promise<string[]>

const FIRST_PAUSE_MS = 50
/** The longest pause between two queries for the open transactions. */
const LONGEST_PAUSE_MS = 1000

export class UncommittedChanges {
  #findEnded: FindEnded
  #cache: KeyCache
  /** Hashes by the id of the transaction. */
  #open = new Map<string, readonly string[]>()
  #pauseMs = FIRST_PAUSE_MS
  #timer = new Timer(() => this.#check())
  #isChecking = false
  #isStopped = false

  constructor(findEnded: FindEnded, cache: KeyCache) {
    this.#findEnded = findEnded
    this.#cache = cache
  }

  /** Call this right after the statement that changed the keys, before the caller can commit. */
  add(transactionId: string, hashes: readonly string[]): void {
    if (hashes.length === 0) return
    this.#cache.beginChange(hashes)
    this.#open.set(transactionId, [...(this.#open.get(transactionId) ?? []), ...hashes])
    this.#pauseMs = FIRST_PAUSE_MS
    this.#checkLater()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer.clear()
  }

  #checkLater(): void {
    if (this.#isChecking || this.#open.size === 0 || this.#isStopped) return
    this.#timer.set(this.#pauseMs)
  }

  async #check(): Promise<void> {
    this.#isChecking = true
    // Without an answer of Postgres the transactions count as open, and their keys are not cached.
    const ended = await this.#findEnded([...this.#open.keys()]).catch(() => [])
    for (const transactionId of ended) {
      this.#cache.endChange(this.#open.get(transactionId) ?? [])
      this.#open.delete(transactionId)
    }
    this.#isChecking = false
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#checkLater()
  }
}
