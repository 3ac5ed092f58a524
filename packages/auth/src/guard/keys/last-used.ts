/** When keys were last used: recorded here and written in batches, never while a request waits. */
import { OutageLog, type Log } from '../../outage-log.ts'
import type { CachedKey } from './key-cache.ts'

/** Times by the ids of keys. */
export type LastUses = ReadonlyMap<string, Date>

/** Returns the ids of keys that are locked: their times are part of the next batch. */
type Write = (uses: LastUses) => Promise<readonly string[]>

const TICK_MS = 10_000
/** Ten thousand rows in one statement would hold up every request for ten milliseconds. */
const MAX_ROWS = 500
/** Of how many locked keys the times are kept: a lock on all keys must not fill each batch. */
const MOST_LOCKED = 10_000

export class LastUsed {
  /** Goes up with each batch. A key is recorded once a tick, which is the accuracy of its time. */
  tick = 0
  #uses = new Map<string, Date>()
  #write: Write
  #outage: OutageLog
  #now: () => number
  #timer: NodeJS.Timeout | undefined

  /** `now`: milliseconds since 1970. */
  constructor(write: Write, log: Log, now: () => number = Date.now) {
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
    const locked: [id: string, at: Date][] = []
    this.#uses = new Map()
    try {
      while (uses.length > 0) {
        const portion = new Map(uses.slice(-MAX_ROWS))
        for (const id of await this.#write(portion)) {
          const at = portion.get(id)
          if (at && locked.length < MOST_LOCKED) locked.push([id, at])
        }
        uses.length = Math.max(0, uses.length - MAX_ROWS)
      }
      this.#outage.succeeded()
    } finally {
      // What was recorded meanwhile is later, and stays.
      this.#uses = new Map([...locked, ...uses, ...this.#uses])
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
