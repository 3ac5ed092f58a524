/** The keys that this process knows of, valid or not, and the one way to learn of another. */
import type { Shape } from '../../key-format.ts'
import { BoundedMap } from './bounded-map.ts'
import type { KnownKey } from './cached-key.ts'

/** Why a key is none; `keyId` where there is a row of it. */
export interface Rejection {
  readonly verdict: 'unknown' | 'revoked' | 'expired'
  readonly keyId: string | null
}

export type Finding = KnownKey | Rejection

export const isRejection = (finding: Finding): finding is Rejection => 'verdict' in finding

export const UNKNOWN: Rejection = { verdict: 'unknown', keyId: null }

/** Reads one key from Postgres by its digest. */
export type LookUp = (digest: string, shape: Shape) => Promise<Finding>

const KNOWN_KEYS = 50_000
const REJECTED_KEYS = 10_000

interface Flight {
  answer: Promise<Finding>
  /** What it reads may be older than a change that we heard of meanwhile. */
  isStale: boolean
  /** The row may have been inserted after it was read. */
  isNew: boolean
}

export class Keyring {
  #known = new BoundedMap<KnownKey>(KNOWN_KEYS)
  // Apart from the valid ones: a flood of made-up keys pushes out nothing but itself.
  #rejected = new BoundedMap<Rejection>(REJECTED_KEYS)
  #flights = new Map<string, Flight>()
  /** How many open transactions have changed a key: nothing that is read of it is remembered. */
  #changing = new Map<string, number>()
  #lookUp: LookUp

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp
  }

  known(digest: string): KnownKey | undefined {
    return this.#known.get(digest)
  }

  remember(digest: string, key: KnownKey): void {
    this.#known.set(digest, key)
  }

  /** One query however many ask at once, and none for what was rejected lately. */
  async find(digest: string, shape: Shape): Promise<Finding> {
    // A lookup that was sent before the commit must not answer a request that came after it.
    if (this.#changing.has(digest)) return this.#lookUp(digest, shape)
    const remembered = this.#known.get(digest) ?? this.#rejected.get(digest)
    if (remembered) return remembered
    const running = this.#flights.get(digest)
    if (running) return running.answer
    const flight: Flight = { answer: Promise.resolve(UNKNOWN), isStale: false, isNew: false }
    this.#flights.set(digest, flight)
    flight.answer = this.#ask(digest, shape, flight).finally(() => this.#flights.delete(digest))
    return flight.answer
  }

  drop(digests: readonly string[]): void {
    for (const digest of digests) {
      this.#known.delete(digest)
      this.#rejected.delete(digest)
      const flight = this.#flights.get(digest)
      if (flight) flight.isStale = true
    }
  }

  /** A transaction that is still open has changed these keys. */
  beginChange(digests: readonly string[]): void {
    for (const digest of digests) {
      this.#changing.set(digest, (this.#changing.get(digest) ?? 0) + 1)
    }
    this.drop(digests)
  }

  /** It has ended. */
  endChange(digests: readonly string[]): void {
    for (const digest of digests) {
      const others = (this.#changing.get(digest) ?? 1) - 1
      if (others > 0) this.#changing.set(digest, others)
      else this.#changing.delete(digest)
    }
    this.drop(digests)
  }

  clear(): void {
    this.#known.clear()
    this.#rejected.clear()
    for (const flight of this.#flights.values()) flight.isStale = true
  }

  /** Rows of these digests were inserted: they are looked up again where they were not found. */
  welcome(digests: readonly string[]): void {
    for (const digest of digests) {
      this.#rejected.delete(digest)
      const flight = this.#flights.get(digest)
      if (flight) flight.isNew = true
    }
  }

  /** The same where it is not known which rows were inserted. */
  welcomeAll(): void {
    this.#rejected.clear()
    for (const flight of this.#flights.values()) flight.isNew = true
  }

  /** What was read before a revocation answers nobody after it, and is never remembered. */
  async #ask(digest: string, shape: Shape, flight: Flight): Promise<Finding> {
    let finding: Finding
    do {
      flight.isStale = false
      flight.isNew = false
      finding = await this.#lookUp(digest, shape)
    } while (flight.isStale || (flight.isNew && finding === UNKNOWN))
    if (this.#changing.has(digest)) return finding
    if (isRejection(finding)) this.#rejected.set(digest, finding)
    else this.#known.set(digest, finding)
    return finding
  }
}
