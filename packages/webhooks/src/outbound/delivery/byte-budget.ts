/**
 * A semaphore of bytes: it bounds the large payloads in memory. They enter in their order. A webhook may
 * hold a quarter of the bytes, or one payload, so that large deliveries to a receiver that hangs leave room
 * for others, which pass those that wait for the share of their webhook. A payload that is larger
 * than the budget enters when no other is in memory.
 */
export interface Reservation {
  /** Gives the bytes back; a second call does nothing. */
  release(): void
}

interface Waiting {
  owner: string
  bytes: number
  enter(): void
}

export class ByteBudget {
  #total: number
  #used = 0
  #usedBy = new Map<string, number>()
  #waiting = new Set<Waiting>()

  constructor(total: number) {
    this.#total = total
  }

  get used(): number {
    return this.#used
  }

  /** Waits until there is room. Rejects where `signal` aborts. */
  async reserve(owner: string, bytes: number, signal: AbortSignal): Promise<Reservation> {
    signal.throwIfAborted()
    const { promise: entered, resolve: enter, reject } = Promise.withResolvers<void>()
    const waiting = { owner, bytes, enter }
    const onAbort = () => {
      this.#waiting.delete(waiting)
      reject(signal.reason as Error)
      // Those behind it may have room now. Others may be aborted in this turn too.
      queueMicrotask(() => this.#admit())
    }
    signal.addEventListener('abort', onAbort)
    this.#waiting.add(waiting)
    this.#admit()
    await entered.finally(() => signal.removeEventListener('abort', onAbort))
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

  #admit(): void {
    const beyondShare = new Set<string>()
    for (const waiting of this.#waiting) {
      const { owner, bytes } = waiting
      const own = this.#usedBy.get(owner) ?? 0
      if (own > 0 && own + bytes > this.#total / 4) beyondShare.add(owner)
      if (beyondShare.has(owner)) continue
      if (this.#used > 0 && this.#used + bytes > this.#total) return
      this.#waiting.delete(waiting)
      this.#add(owner, bytes)
      waiting.enter()
    }
  }

  #add(owner: string, bytes: number): void {
    this.#used += bytes
    const own = (this.#usedBy.get(owner) ?? 0) + bytes
    if (own > 0) this.#usedBy.set(owner, own)
    else this.#usedBy.delete(owner)
  }
}
