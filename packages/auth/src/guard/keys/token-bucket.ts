import type { KeyFormat } from '../../key-format.ts'

/** One for each format: unknown keys in another format do not use up the budget of ours. */
export type LookupBudgets = Readonly<Record<KeyFormat, TokenBucket>>

export const createLookupBudgets = (): LookupBudgets => ({
  wellFormed: new TokenBucket(),
  badChecksum: new TokenBucket(),
  otherFormat: new TokenBucket(),
})

/** How often Postgres may be asked about unknown keys: 2000 times at once, then 500 a second. */
export class TokenBucket {
  #tokens: number
  #at: number
  readonly #size: number
  readonly #perSecond: number

  constructor(size = 2000, perSecond = 500, now = performance.now()) {
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
