/** When keys were last used, gathered here and written in batches, never in a request's way. */
import type { KnownKey } from './cached-key.ts'

export type Uses = ReadonlyMap<string, Date>

const ROUND_MS = 10_000
/** To write ten thousand in one go keeps every request waiting for ten milliseconds. */
const PORTION = 500

export class LastUsed {
  /** Goes up with each batch: a key is noted once a round, which is the accuracy of the time. */
  round = 0
  #uses = new Map<string, Date>()
  #write: (uses: Uses) => Promise<void>
  #now: () => number
  #timer: NodeJS.Timeout | undefined

  /** `now`: milliseconds since 1970. */
  constructor(write: (uses: Uses) => Promise<void>, now: () => number = Date.now) {
    this.#write = write
    this.#now = now
  }

  note(key: KnownKey): void {
    key.notedIn = this.round
    if (key.auth.keyId !== null) this.#uses.set(key.auth.keyId, new Date(this.#now()))
  }

  /** Uses that could not be written stand in the next batch. */
  async flush(): Promise<void> {
    this.round++
    if (this.#uses.size === 0) return
    const uses = [...this.#uses]
    this.#uses = new Map()
    try {
      while (uses.length > 0) {
        await this.#write(new Map(uses.slice(-PORTION)))
        uses.length = Math.max(0, uses.length - PORTION)
      }
    } catch (error) {
      this.#uses = new Map([...uses, ...this.#uses])
      throw error
    }
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush().catch(() => {}), ROUND_MS)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch(() => {})
  }
}
