/**
 * Bounds the bytes of large payloads in memory. A webhook may hold a quarter of them, so that large
 * deliveries to a receiver that hangs leave room for others. A payload that is larger than the
 * budget is admitted when no other is in memory.
 *
 * Smaller payloads pass one that the budget has no room for, at first. Under a steady flow of them there
 * would never be room, so that after some seconds none passes it any more.
 */
export interface Reservation {
  /** Gives the bytes back; a second call does nothing. */
  release(): void
}

interface Waiting {
  owner: string
  bytes: number
  since: number
  /** Since when only the whole budget is too full; `null` where its webhook has its share. */
  hasShareSince: number | null
  enter(): void
}

/** How long others pass a payload that waits. */
const PASSED_FOR_MS = 5000

export class ByteBudget {
  #total: number
  #nowMs: () => number
  #used = 0
  #usedBy = new Map<string, number>()
  #waiting: Waiting[] = []

  /** `nowMs`: a monotonic clock. */
  constructor(total: number, nowMs: () => number = () => performance.now()) {
    this.#total = total
    this.#nowMs = nowMs
  }

  /** Waits until there is room. Rejects where `signal` aborts. */
  async reserve(owner: string, bytes: number, signal: AbortSignal): Promise<Reservation> {
    await this.#wait(owner, bytes, signal)
    let isHeld = true
    return {
      release: () => {
        if (!isHeld) return
        isHeld = false
        this.#add(owner, -bytes)
        this.#admit()
      },
    }
  }

  get used(): number {
    return this.#used
  }

  #wait(owner: string, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        reject(signal.reason as Error)
        // Payloads behind the aborted one may have room now. Others may be aborted in this turn too.
        queueMicrotask(() => this.#admit())
      }
      const waiting: Waiting = {
        owner,
        bytes,
        since: this.#nowMs(),
        hasShareSince: null,
        enter: () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort)
      this.#waiting.push(waiting)
      this.#admit()
    })
  }

  /**
   * Admits in the order of the requests. A webhook that has its share is skipped: however long it waits
   * for that, it holds up only its own later payloads.
   */
  #admit(): void {
    const now = this.#nowMs()
    const heldUp = new Set<string>()
    for (const waiting of this.#waiting) {
      const { owner, bytes } = waiting
      const mayHold = this.#mayHold(owner, bytes)
      if (mayHold && !heldUp.has(owner) && this.#hasRoomFor(bytes)) {
        // A new list: the loop runs over the old one.
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        this.#add(owner, bytes)
        waiting.enter()
        continue
      }
      waiting.hasShareSince = mayHold ? (waiting.hasShareSince ?? now) : null
      if (now - (waiting.hasShareSince ?? now) >= PASSED_FOR_MS) return
      if (now - waiting.since >= PASSED_FOR_MS) heldUp.add(owner)
    }
  }

  #hasRoomFor(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#total
  }

  /** Whether the webhook keeps to its share with these bytes: it may always hold one payload. */
  #mayHold(owner: string, bytes: number): boolean {
    const own = this.#usedBy.get(owner) ?? 0
    return own === 0 || own + bytes <= this.#total / 4
  }

  #add(owner: string, bytes: number): void {
    this.#used += bytes
    const own = (this.#usedBy.get(owner) ?? 0) + bytes
    if (own > 0) this.#usedBy.set(owner, own)
    else this.#usedBy.delete(owner)
  }
}
