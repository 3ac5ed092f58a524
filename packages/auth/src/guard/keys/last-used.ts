/** When keys were last used: recorded here and written in batches, never while a request waits. */
import { OutageLog, type Log } from '../../outage-log.ts'
import type { CachedKey } from './cached-key.ts'

/** Times by the ids of keys. */
export type LastUses = ReadonlyMap<string, Date>

const TICK_MS = 10_000
/** Ten thousand rows in one statement would hold up every request for ten milliseconds. */
const MAX_ROWS = 500

export class LastUsed {
  /** Goes up with each batch. A key is recorded once a tick, which is the accuracy of its time. */
  tick = 0
  #uses = new Map<string, Date>()
  #write: (uses: LastUses) => Promise<void>
  #outage: OutageLog
  #now: () => number
  #timer: NodeJS.Timeout | undefined

  /** `now`: milliseconds since 1970. */
  constructor(write: (uses: LastUses) => Promise<void>, log: Log, now: () => number = Date.now) {
    this.#write = write
    this.#now = now
    this.#outage = new OutageLog(
      log,
      'could not write when keys were last used; the times stay in memory for the next batch',
      'writing when keys were last used works again',
    )
  }

  record(key: CachedKey): void {
    key.recordedTick = this.tick
    if (key.auth.keyId !== null) this.#uses.set(key.auth.keyId, new Date(this.#now()))
  }

  /** Rejects where they cannot be written. They are part of the next batch then. */
  async flush(): Promise<void> {
    this.tick++
    if (this.#uses.size === 0) return
    const uses = [...this.#uses]
    this.#uses = new Map()
    try {
      while (uses.length > 0) {
        await this.#write(new Map(uses.slice(-MAX_ROWS)))
        uses.length = Math.max(0, uses.length - MAX_ROWS)
      }
      this.#outage.succeeded()
    } catch (error) {
      this.#uses = new Map([...uses, ...this.#uses])
      throw error
    }
  }

  start(): void {
    this.#timer = setInterval(() => void this.#flushOrLog(), TICK_MS)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flushOrLog()
  }

  async #flushOrLog(): Promise<void> {
    await this.flush().catch((error: unknown) => this.#outage.failed(error))
  }
}
