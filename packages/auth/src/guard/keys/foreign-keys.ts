/**
 * Keys of another system that were imported by its own hash of their texts. It is computed only for texts
 * that are not of our format and that no key has the SHA-256 of. Their first use stores the SHA-256, by which
 * they are found from then on.
 */
import type { Db } from '@svc/core/internal'
import { foreignHashOf } from '../../key-format.ts'
import { RareLog, type Log } from '../../outage-log.ts'
import { findForeignKeys, type ForeignKey } from '../../tables/stored-keys.ts'
import { CannotDecide } from '../auth-failure.ts'
import { batchLookup } from '../batch-lookup.ts'
import { withAtMost } from './statements.ts'
import { TokenBucket } from './token-bucket.ts'

/** Lookups by it are batched. Apart from those by SHA-256, so that a flood of other texts delays no known key. */
const CONNECTIONS = 1
/**
 * Milliseconds for hashes of texts that open no key, at once and in each second. A slow hash, as for
 * passwords, keeps all requests of the process waiting.
 */
const HASHING_MS = 100

/** What another system has made of the text of a key: the option `importedKeys.hash`. */
export type ForeignHash = (key: string) => string

export interface ForeignKeysParts {
  hash: ForeignHash
  db: Db
  /** How long a lookup may wait for Postgres. */
  timeoutMs: number
  log: Log
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

export class ForeignKeys {
  #hash: ForeignHash
  #now: () => number
  #log: RareLog
  #hashing: TokenBucket
  #findKey: (hashes: string) => Promise<ForeignKey | undefined>

  constructor({ hash, db, timeoutMs, log, now = () => performance.now() }: ForeignKeysParts) {
    this.#hash = hash
    this.#now = now
    this.#log = new RareLog(log, 'the option "importedKeys.hash" gave no hash of a key', now)
    this.#hashing = new TokenBucket(HASHING_MS, HASHING_MS, now())
    const lookupDb = withAtMost(db, CONNECTIONS, timeoutMs)
    this.#findKey = batchLookup((texts) => findForeignKeys(lookupDb, texts.map(pairOf)))
  }

  /** @throws CannotDecide where too much time went into hashes of texts that open no key */
  async find(text: string, hash: string): Promise<ForeignKey | undefined> {
    if (!this.#hashing.take(this.#now())) throw new CannotDecide('too many texts to hash')
    const startedAt = this.#now()
    const given = this.#hashOf(text)
    const tookMs = this.#now() - startedAt
    this.#hashing.refund(1 - tookMs)
    if (given === undefined) return undefined
    const key = await this.#findKey(hash + foreignHashOf(given))
    if (key) this.#hashing.refund(tookMs)
    return key
  }

  /** The function is the host's: it may throw, or return anything. */
  #hashOf(text: string): string | undefined {
    try {
      const given: unknown = this.#hash(text)
      if (typeof given === 'string' && given !== '') return given
      // Node ends the process at an unhandled rejection.
      if (given instanceof Promise) given.catch(() => {})
      this.#log.warn({ reason: 'it must return a text that is not empty, not a promise' })
    } catch (error) {
      this.#log.warn({ reason: error instanceof Error ? error.message : 'it threw' })
    }
    return undefined
  }
}

/** Both hashes have 32 characters. */
const pairOf = (hashes: string) => ({ hash: hashes.slice(0, 32), foreignHash: hashes.slice(32) })
