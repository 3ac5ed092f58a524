/** Holds up to `size` tokens, all of them at first, and is refilled with `perSecond` a second. */
export class TokenBucket {
  #tokens: number
  #at: number
  readonly #size: number
  readonly #perSecond: number

  constructor(size: number, perSecond: number, now = performance.now()) {
    this.#size = size
    this.#perSecond = perSecond
    this.#tokens = size
    this.#at = now
  }

  take(now = performance.now()): boolean {
    this.#tokens = Math.min(this.#size, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond)
    this.#at = now
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }

  refund(): void {
    this.#tokens = Math.min(this.#size, this.#tokens + 1)
  }
}
