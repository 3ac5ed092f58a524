/** Counts what came of requests with keys, and writes it in batches, never while a request waits. */
import { OutageLog, type Log } from '../guard/outage-log.ts'
import type { Counts, UsageOutcome } from '../tables/usage.ts'

/** Those of one key since the last batch: kept with the cached key, so that no lookup is needed. */
export interface KeyUsage extends Counts {
  readonly keyId: string
  /** It is part of the next batch. */
  isCounted: boolean
}

export type WriteUsage = (
  hour: Date,
  uses: readonly (readonly [keyId: string, Counts])[],
) => Promise<void>

interface Batch {
  hour: number
  uses: Map<string, Counts>
}

const TICK_MS = 5000
const HOUR_MS = 3_600_000
/** Ten thousand rows in one statement would hold up every request for ten milliseconds. */
const MAX_ROWS = 500

const noUses = (): Counts => ({
  allowed: 0,
  rate_limited: 0,
  quota_exceeded: 0,
  forbidden: 0,
  expired: 0,
})

export const usageOf = (keyId: string): KeyUsage => ({ keyId, isCounted: false, ...noUses() })

export class UsageCounter {
  #write: WriteUsage
  #now: () => number
  #outage: OutageLog
  #used: KeyUsage[] = []
  /** What could not be written yet, by the hour. */
  #unwritten: Batch[] = []
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  /** `now`: milliseconds since 1970. */
  constructor(write: WriteUsage, log: Log, now: () => number = Date.now) {
    this.#write = write
    this.#now = now
    this.#outage = new OutageLog(
      log,
      'the usage of keys cannot be written: it stays in memory for the next batch',
      'the usage of keys can be written again',
    )
  }

  count(usage: KeyUsage, outcome: UsageOutcome): void {
    usage[outcome]++
    if (usage.isCounted) return
    usage.isCounted = true
    this.#used.push(usage)
  }

  /** Of a key that is not remembered, such as an expired one. */
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
    this.#timer = setTimeout(() => void this.#flushAgain(), TICK_MS)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.flush().catch((error: unknown) => this.#outage.failed(error))
  }

  async #flushAgain(): Promise<void> {
    await this.flush().catch((error: unknown) => this.#outage.failed(error))
    if (this.#timer !== undefined) this.start()
  }

  /** Takes over what was counted, as of this hour. */
  #collect(): void {
    if (this.#used.length === 0) return
    const hour = Math.floor(this.#now() / HOUR_MS) * HOUR_MS
    let batch = this.#unwritten.findLast((one) => one.hour === hour)
    if (batch === undefined) this.#unwritten.push((batch = { hour, uses: new Map() }))
    for (const usage of this.#used) {
      const { keyId } = usage
      const counts = batch.uses.get(keyId) ?? noUses()
      batch.uses.set(keyId, counts)
      for (const outcome of Object.keys(counts) as UsageOutcome[]) {
        counts[outcome] += usage[outcome]
        usage[outcome] = 0
      }
      usage.isCounted = false
    }
    this.#used = []
  }

  async #writeAll(): Promise<void> {
    const batches = this.#unwritten
    this.#unwritten = []
    for (const [index, { hour, uses }] of batches.entries()) {
      try {
        for (let rows = [...uses]; rows.length > 0; rows = rows.slice(MAX_ROWS)) {
          const portion = rows.slice(0, MAX_ROWS)
          await this.#write(new Date(hour), portion)
          for (const [keyId] of portion) uses.delete(keyId)
        }
      } catch (error) {
        for (const rest of batches.slice(index)) this.#keep(rest)
        throw error
      }
    }
    this.#outage.succeeded()
  }

  #keep({ hour, uses }: Batch): void {
    const later = this.#unwritten.find((one) => one.hour === hour)
    if (later === undefined) {
      this.#unwritten.push({ hour, uses })
      return
    }
    for (const [keyId, counts] of uses) {
      const known = later.uses.get(keyId) ?? noUses()
      later.uses.set(keyId, known)
      for (const outcome of Object.keys(known) as UsageOutcome[]) known[outcome] += counts[outcome]
    }
  }
}
