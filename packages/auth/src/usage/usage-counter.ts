/**
 * Counts the outcomes of requests with keys, and writes them in batches, never while a request
 * waits.
 */
import { Timer } from '@svc/core/internal'
import { OutageLog, type Log } from '../outage-log.ts'
import {
  NO_USES,
  OUTCOMES,
  type Counts,
  type UsageOutcome,
  type UsagePortion,
} from '../tables/usage.ts'

/**
 * The counts of one key since the last batch. They are kept with the cached key, so that no lookup
 * is needed.
 */
export interface KeyUsage extends Counts {
  readonly keyId: string
  /** Whether it is part of the next batch. */
  isCounted: boolean
}

/** Does nothing where a portion of that number was written before. */
export type WriteUsage = (portion: UsagePortion) => Promise<void>

const TICK_MS = 5000
const HOUR_MS = 3_600_000
/** Ten thousand rows in one statement would hold up every request for ten milliseconds. */
const MAX_ROWS = 500

export const usageOf = (keyId: string): KeyUsage => ({ keyId, isCounted: false, ...NO_USES })

export class UsageCounter {
  #write: WriteUsage
  #now: () => number
  #outage: OutageLog
  #used: KeyUsage[] = []
  /** Counts that are not in a batch yet, by the hour in milliseconds since 1970. */
  #unwritten = new Map<number, Map<string, Counts>>()
  #portions = 0
  /**
   * The portion that was sent last. It stays unchanged until Postgres has confirmed it: it may
   * be written although no answer arrives.
   */
  #unconfirmed: UsagePortion | undefined
  #writing: Promise<void> = Promise.resolve()
  #timer = new Timer(() => this.#flushAgain())
  #isStopped = false

  /** `now`: milliseconds since 1970. */
  constructor(write: WriteUsage, log: Log, now: () => number = Date.now) {
    this.#write = write
    this.#now = now
    this.#outage = new OutageLog(
      log,
      'could not write the usage of keys; it stays in memory for the next batch',
      'writing the usage of keys works again',
    )
  }

  count(usage: KeyUsage, outcome: UsageOutcome): void {
    usage[outcome]++
    if (usage.isCounted) return
    usage.isCounted = true
    this.#used.push(usage)
  }

  /** Counts for a key that is not remembered, such as an expired one. */
  countOnce(keyId: string, outcome: UsageOutcome): void {
    this.count(usageOf(keyId), outcome)
  }

  /** Rejects where it cannot be written. It is part of the next batch then. */
  flush(): Promise<void> {
    this.#collect()
    const next = this.#writing.then(() => this.#writeAll())
    this.#writing = next.catch(() => {})
    return next
  }

  start(): void {
    this.#timer.set(TICK_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer.clear()
    await this.flush().catch((error: unknown) => this.#outage.failed(error))
  }

  async #flushAgain(): Promise<void> {
    await this.flush().catch((error: unknown) => this.#outage.failed(error))
    if (!this.#isStopped) this.start()
  }

  /** Moves the counts into this hour. */
  #collect(): void {
    if (this.#used.length === 0) return
    const hour = Math.floor(this.#now() / HOUR_MS) * HOUR_MS
    const uses = this.#unwritten.get(hour) ?? new Map<string, Counts>()
    this.#unwritten.set(hour, uses)
    for (const usage of this.#used) {
      const { keyId } = usage
      const counts = uses.get(keyId) ?? { ...NO_USES }
      uses.set(keyId, counts)
      for (const outcome of OUTCOMES) {
        counts[outcome] += usage[outcome]
        usage[outcome] = 0
      }
      usage.isCounted = false
    }
    this.#used = []
  }

  async #writeAll(): Promise<void> {
    while ((this.#unconfirmed ??= this.#nextPortion()) !== undefined) {
      await this.#write(this.#unconfirmed)
      this.#unconfirmed = undefined
    }
    this.#outage.succeeded()
  }

  #nextPortion(): UsagePortion | undefined {
    for (const [hour, uses] of this.#unwritten) {
      const taken: [string, Counts][] = []
      for (const use of uses) {
        taken.push(use)
        uses.delete(use[0])
        if (taken.length === MAX_ROWS) break
      }
      if (uses.size === 0) this.#unwritten.delete(hour)
      return { number: ++this.#portions, hour: new Date(hour), uses: taken }
    }
    return undefined
  }
}
