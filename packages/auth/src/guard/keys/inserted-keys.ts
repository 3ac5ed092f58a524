/**
 * Hears of rows that were inserted after their keys were refused, as by an import or a restore. No
 * request waits for it, and the lease does not depend on it.
 */
import type { Arrivals } from '../../tables/api-keys.ts'

export interface ArrivalParts {
  findArrivals: (since: string | null) => Promise<Arrivals>
  /** `null`: any row may be new. */
  welcome: (digests: readonly string[] | null) => void
}

const POLL_MS = 400

export class ArrivalWatch {
  #parts: ArrivalParts
  #snapshot: string | null = null
  #timer: NodeJS.Timeout | undefined
  #isStarted = false

  constructor(parts: ArrivalParts) {
    this.#parts = parts
  }

  /** Resolves after the first reading, which forgets every refusal. */
  start(): Promise<void> {
    this.#isStarted = true
    return this.#poll()
  }

  stop(): void {
    this.#isStarted = false
    clearTimeout(this.#timer)
  }

  async look(): Promise<void> {
    const { snapshot, digests } = await this.#parts.findArrivals(this.#snapshot)
    this.#parts.welcome(digests)
    this.#snapshot = snapshot
  }

  /** What a failed reading did not see is read by the next one. */
  async #poll(): Promise<void> {
    await this.look().catch(() => {})
    if (!this.#isStarted) return
    this.#timer = setTimeout(() => void this.#poll(), POLL_MS)
    this.#timer.unref()
  }
}
