/**
 * Bounds the bytes of large payloads in memory. A webhook may hold a quarter of them, so that large
 * deliveries to a receiver that hangs leave room for others. A payload that is larger than the
 * budget is admitted when no other is in memory.
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
  #waiting: Waiting[] = []

  constructor(total: number) {
    this.#total = total
  }

  /** Waits until there is room. Rejects where `signal` aborts. */
  async reserve(owner: string, bytes: number, signal: AbortSignal): Promise<Reservation> {
    if (!this.#fits(owner, bytes)) await this.#wait(owner, bytes, signal)
    else this.#add(owner, bytes)
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
      }
      const waiting: Waiting = {
        owner,
        bytes,
        enter: () => {
          signal.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort)
      this.#waiting.push(waiting)
    })
  }

  /** Admits in the order of the requests. A webhook that has its share is skipped. */
  #admit(): void {
    for (const waiting of this.#waiting) {
      const { owner, bytes } = waiting
      if (!this.#fits(owner, bytes)) continue
      // A new list: the loop runs over the old one.
      this.#waiting = this.#waiting.filter((other) => other !== waiting)
      this.#add(owner, bytes)
      waiting.enter()
    }
  }

  #fits(owner: string, bytes: number): boolean {
    if (this.#used === 0) return true
    const own = this.#usedBy.get(owner) ?? 0
    const share = this.#total / 4
    return this.#used + bytes <= this.#total && (own === 0 || own + bytes <= share)
  }

  #add(owner: string, bytes: number): void {
    this.#used += bytes
    const own = (this.#usedBy.get(owner) ?? 0) + bytes
    if (own > 0) this.#usedBy.set(owner, own)
    else this.#usedBy.delete(owner)
  }
}
