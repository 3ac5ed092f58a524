/** The keys that this process remembers, valid or not, and the lookups of others. */
import type { KeyFormat } from '../../key-format.ts'
import { UNKNOWN_KEY, type KeyFailure } from '../auth-failure.ts'
import { BoundedMap } from '../bounded-map.ts'
import type { CachedKey } from './cached-key.ts'
import { createLookupBudget } from './lookup-budgets.ts'
import type { TokenBucket } from './token-bucket.ts'

export type LookupResult = CachedKey | KeyFailure

export const isFailure = <Failure extends { verdict: string }>(
  result: CachedKey | Failure,
): result is Failure => 'verdict' in result

/** Reads one key from Postgres by its hash, within a budget of its own or that of its format. */
export type LookUp = (
  hash: string,
  format: KeyFormat,
  budget?: TokenBucket,
) => Promise<LookupResult>

/** How many valid keys are remembered at most. The half of them that was used last is kept. */
const MAX_VALID_KEYS = 200_000
const MAX_REJECTED_KEYS = 10_000

interface Changing {
  /** How many open transactions have changed the key. */
  transactions: number
  /** Each request with it queries Postgres: a busy key must not use up the budget of all others. */
  readonly budget: TokenBucket
}

interface PendingLookup {
  result: Promise<LookupResult>
  /** The key was changed, perhaps after it was read. */
  isStale: boolean
  /** The row was inserted, perhaps after it was looked for. */
  isInserted: boolean
}

export class KeyCache {
  #valid = new BoundedMap<CachedKey>(MAX_VALID_KEYS)
  // Apart from the valid keys: a flood of unknown keys must not push them out.
  #rejected = new BoundedMap<KeyFailure>(MAX_REJECTED_KEYS)
  #pending = new Map<string, PendingLookup>()
  /** Keys that open transactions have changed. No result about such a key is remembered. */
  #changing = new Map<string, Changing>()
  #lookUp: LookUp

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp
  }

  validKey(hash: string): CachedKey | undefined {
    return this.#valid.get(hash)
  }

  remember(hash: string, key: CachedKey): void {
    this.#valid.set(hash, key)
  }

  /** Concurrent lookups of one key share one query. Rejected keys need no query. */
  async find(hash: string, format: KeyFormat): Promise<LookupResult> {
    // A lookup that was sent before the commit must not answer a request that came after it.
    const changing = this.#changing.get(hash)
    if (changing) return this.#lookUp(hash, format, changing.budget)
    const remembered = this.#valid.get(hash) ?? this.#rejected.get(hash)
    if (remembered) return remembered
    const known = this.#pending.get(hash)
    if (known) return known.result
    const pending = { result: NO_RESULT, isStale: false, isInserted: false }
    this.#pending.set(hash, pending)
    pending.result = this.#query(hash, format, pending).finally(() => this.#pending.delete(hash))
    return pending.result
  }

  forget(hashes: readonly string[]): void {
    for (const hash of hashes) {
      this.#valid.delete(hash)
      this.#rejected.delete(hash)
      const pending = this.#pending.get(hash)
      if (pending) pending.isStale = true
    }
  }

  forgetAll(): void {
    this.#valid.clear()
    this.#rejected.clear()
    for (const pending of this.#pending.values()) pending.isStale = true
  }

  /** A transaction that is still open has changed these keys. */
  beginChange(hashes: readonly string[]): void {
    for (const hash of hashes) {
      const changing = this.#changing.get(hash)
      if (changing) changing.transactions++
      else this.#changing.set(hash, { transactions: 1, budget: createLookupBudget() })
    }
    this.forget(hashes)
  }

  /** The transaction has ended. */
  endChange(hashes: readonly string[]): void {
    for (const hash of hashes) {
      const changing = this.#changing.get(hash)
      if (changing && --changing.transactions === 0) this.#changing.delete(hash)
    }
    this.forget(hashes)
  }

  /** Rows of these keys were inserted. A key that was not found before is looked up again. */
  forgetRejections(hashes: readonly string[]): void {
    for (const hash of hashes) {
      this.#rejected.delete(hash)
      const pending = this.#pending.get(hash)
      if (pending) pending.isInserted = true
    }
  }

  /** Rows were inserted, it is not known of which keys: all that were not found are looked up again. */
  forgetAllRejections(): void {
    this.#rejected.clear()
    for (const pending of this.#pending.values()) pending.isInserted = true
  }

  /** If the key changes while the query runs, the result is discarded and the query repeated. */
  async #query(hash: string, format: KeyFormat, pending: PendingLookup): Promise<LookupResult> {
    let result: LookupResult
    do {
      pending.isStale = false
      pending.isInserted = false
      result = await this.#lookUp(hash, format)
    } while (pending.isStale || (pending.isInserted && result === UNKNOWN_KEY))
    if (this.#changing.has(hash)) return result
    if (isFailure(result)) this.#rejected.set(hash, result)
    else this.#valid.set(hash, result)
    return result
  }
}

const NO_RESULT: Promise<LookupResult> = Promise.resolve(UNKNOWN_KEY)
