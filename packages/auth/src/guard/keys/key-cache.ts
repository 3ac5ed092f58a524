/** The keys that this process remembers, valid or not, and the lookups of others. */
import type { KeyFormat } from '../../key-format.ts'
import { UNKNOWN_KEY, type KeyFailure } from '../auth-failure.ts'
import { BoundedMap } from '../bounded-map.ts'
import type { CachedKey } from './cached-key.ts'
import { createLookupBudget, type TokenBucket } from './token-bucket.ts'

export type LookupResult = CachedKey | KeyFailure

export const isFailure = <Failure extends { verdict: string }>(
  result: CachedKey | Failure,
): result is Failure => 'verdict' in result

/** A result for the requests that wait for it. It is not remembered: no change of the key would name its hash. */
export class ForNow {
  readonly result: LookupResult

  constructor(result: LookupResult) {
    this.result = result
  }
}

/** What was presented, and the form of its text. */
export interface Presented {
  readonly text: string
  readonly format: KeyFormat
}

/** Reads one key from Postgres by its hash, within a budget of its own or that of its format. */
export type LookUp = (
  hash: string,
  presented: Presented,
  budget?: TokenBucket,
) => Promise<LookupResult | ForNow>

/** How many valid keys are remembered at most. The half of them that was used last is kept. */
const MAX_VALID_KEYS = 200_000
const MAX_REJECTED_KEYS = 10_000
/**
 * For how long a key without a row is remembered. No notification tells of a row that is inserted, as by
 * an import: such a key is accepted within that time.
 */
const UNKNOWN_MS = 900

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
}

export class KeyCache {
  #valid = new BoundedMap<CachedKey>(MAX_VALID_KEYS)
  // Apart from the valid keys: a flood of unknown keys must not push them out.
  #rejected = new BoundedMap<KeyFailure>(MAX_REJECTED_KEYS)
  /** Until when the keys without a row are remembered. */
  #unknown = new BoundedMap<number>(MAX_REJECTED_KEYS)
  #pending = new Map<string, PendingLookup>()
  /** Keys that open transactions have changed. No result about such a key is remembered. */
  #changing = new Map<string, Changing>()
  #lookUp: LookUp
  #now: () => number

  /** `now`: milliseconds of a monotonic clock. */
  constructor(lookUp: LookUp, now = () => performance.now()) {
    this.#lookUp = lookUp
    this.#now = now
  }

  validKey(hash: string): CachedKey | undefined {
    return this.#valid.get(hash)
  }

  remember(hash: string, key: CachedKey): void {
    this.#valid.set(hash, key)
  }

  /** Concurrent lookups of one key share one query. Rejected keys need none for a while. */
  async find(hash: string, presented: Presented): Promise<LookupResult> {
    // A lookup that was sent before the commit must not answer a request that came after it.
    const changing = this.#changing.get(hash)
    if (changing) return resultOf(await this.#lookUp(hash, presented, changing.budget))
    const remembered = this.#valid.get(hash) ?? this.#rejected.get(hash)
    if (remembered) return remembered
    if ((this.#unknown.get(hash) ?? 0) > this.#now()) return UNKNOWN_KEY
    const known = this.#pending.get(hash)
    if (known) return known.result
    const pending = { result: NO_RESULT, isStale: false }
    this.#pending.set(hash, pending)
    pending.result = this.#query(hash, presented, pending).finally(() => this.#pending.delete(hash))
    return pending.result
  }

  forget(hashes: readonly string[]): void {
    for (const hash of hashes) {
      this.#valid.delete(hash)
      this.#rejected.delete(hash)
      this.#unknown.delete(hash)
      const pending = this.#pending.get(hash)
      if (pending) pending.isStale = true
    }
  }

  forgetAll(): void {
    this.#valid.clear()
    this.#rejected.clear()
    this.#unknown.clear()
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

  /** If the key changes while the query runs, the result is discarded and the query repeated. */
  async #query(hash: string, presented: Presented, pending: PendingLookup): Promise<LookupResult> {
    let found: LookupResult | ForNow
    let sentAt: number
    do {
      pending.isStale = false
      sentAt = this.#now()
      found = await this.#lookUp(hash, presented)
    } while (pending.isStale)
    const result = resultOf(found)
    if (found instanceof ForNow || this.#changing.has(hash)) return result
    if (result === UNKNOWN_KEY) this.#unknown.set(hash, sentAt + UNKNOWN_MS)
    else if (isFailure(result)) this.#rejected.set(hash, result)
    else this.#valid.set(hash, result)
    return result
  }
}

const resultOf = (found: LookupResult | ForNow): LookupResult =>
  found instanceof ForNow ? found.result : found

const NO_RESULT: Promise<LookupResult> = Promise.resolve(UNKNOWN_KEY)
