/** How often something may happen, such as a query of Postgres for an unknown key. */
import type { KeyFormat } from '../../key-format.ts'

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

  /** A negative number takes more, also more than there are. */
  refund(tokens = 1): void {
    this.#tokens = Math.min(this.#size, this.#tokens + tokens)
  }
}

/** How many lookups of unknown keys begin at once, and then in a second. */
const LOOKUPS_AT_ONCE = 2000
const LOOKUPS_PER_SECOND = 500

const createLookupBudget = (): TokenBucket => new TokenBucket(LOOKUPS_AT_ONCE, LOOKUPS_PER_SECOND)

/**
 * More than a process has requests: nothing but a lookup tells a key that was imported from any other text, so a
 * flood of texts would keep imported keys out. They are looked up in batches.
 */
const IMPORTED_AT_ONCE = 40_000
const IMPORTED_PER_SECOND = 20_000

/** One for each format: unknown keys in another format do not use up the budget of ours. */
export type LookupBudgets = Readonly<Record<KeyFormat, TokenBucket>>

/** `lookups`: of unknown keys. `failures`: of failed attempts that are counted, which is a write. */
export function createLookupBudgets(): { lookups: LookupBudgets; failures: LookupBudgets } {
  const ours = { wellFormed: createLookupBudget(), badChecksum: createLookupBudget() }
  return {
    lookups: { ...ours, otherFormat: new TokenBucket(IMPORTED_AT_ONCE, IMPORTED_PER_SECOND) },
    failures: { ...ours, otherFormat: createLookupBudget() },
  }
}
