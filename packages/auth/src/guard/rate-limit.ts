/**
 * Blocks of key prefixes. Failures are counted in Postgres, exactly and for all processes; here
 * stands what this process knows of them, so that a request with a good key need not ask.
 */
import { uuidv7, type Db } from '@svc/core/kit'
import {
  countFailure,
  findFailures,
  forgetFailures,
  type PrefixRecord,
  type RateLimit,
} from '../failures.ts'
import { BoundedMap } from './bounded-map.ts'

/** What is known of a prefix that keys in use share. */
export interface PrefixState {
  readonly prefix: string
  /** Blocked, with failures to forget, or not watched: the way without a query is closed. */
  needsCare: boolean
  hasFailures: boolean
  /** When this process changed it itself: an older reading of Postgres says nothing of it. */
  changedAt: number
  /** The round in which a key of it was last used. */
  usedIn: number
}

/** Prefixes whose keys nobody used for so many rounds of the poll (about a minute) are let go. */
const ROUNDS_KEPT = 150
const BLOCKS_KEPT = 10_000

export class RateLimiter {
  /** Goes up with each reading of the watched prefixes. */
  round = 0
  #db: Db
  #forStrangers: Db
  #limit: RateLimit
  #watched = new Map<string, PrefixState>()
  #blocks = new BoundedMap<number>(BLOCKS_KEPT)

  /** `forStrangers`: where whoever has no good key waits for the others who have none. */
  constructor(db: Db, forStrangers: Db, limit: RateLimit) {
    this.#db = db
    this.#forStrangers = forStrangers
    this.#limit = limit
  }

  /** How long a prefix is blocked still, as far as this process knows, in milliseconds. */
  blockedForMs(prefix: string): number {
    return Math.max(0, (this.#blocks.get(prefix) ?? 0) - performance.now())
  }

  /**
   * Counts a failure.
   *
   * @returns 0 where it counted, else how long the prefix was blocked already, in milliseconds
   */
  async fail(prefix: string): Promise<number> {
    const { isCounted, blockedForMs } = await countFailure(
      this.#forStrangers,
      prefix,
      uuidv7(),
      this.#limit,
    )
    this.#learnBlock(prefix, blockedForMs)
    const state = this.#watched.get(prefix)
    if (state) {
      state.changedAt = performance.now()
      this.#learn(state, { prefix, blockedForMs })
    }
    return isCounted ? 0 : Math.max(1, blockedForMs)
  }

  /**
   * For a good key that is about to pass: watches its prefix from now on and forgets the failures
   * of it, unless it is blocked. Returns the one state that all keys of the prefix are to share.
   */
  async care(prefix: string): Promise<PrefixState> {
    const state = this.#watched.get(prefix) ?? (await this.#watch(prefix))
    state.usedIn = this.round
    if (state.hasFailures && this.blockedForMs(prefix) === 0) {
      await forgetFailures(this.#db, prefix)
      state.changedAt = performance.now()
      this.#learn(state, undefined)
    }
    return state
  }

  /** Reads what became of the watched prefixes elsewhere. */
  async refresh(): Promise<void> {
    this.round++
    for (const [prefix, state] of this.#watched) {
      if (state.usedIn >= this.round - ROUNDS_KEPT) continue
      this.#watched.delete(prefix)
      state.needsCare = true
    }
    const states = [...this.#watched.values()]
    if (states.length === 0) return
    const sentAt = performance.now()
    const records = await findFailures(
      this.#db,
      states.map(({ prefix }) => prefix),
    )
    const found = new Map(records.map((record) => [record.prefix, record]))
    for (const state of states) {
      if (state.changedAt < sentAt) this.#learn(state, found.get(state.prefix))
    }
  }

  async #watch(prefix: string): Promise<PrefixState> {
    const state: PrefixState = { ...UNWATCHED, prefix, usedIn: this.round }
    const [record] = await findFailures(this.#db, [prefix])
    const watched = this.#watched.get(prefix)
    if (watched) return watched
    this.#watched.set(prefix, state)
    this.#learn(state, record)
    return state
  }

  #learn(state: PrefixState, record: PrefixRecord | undefined): void {
    if (record) this.#learnBlock(state.prefix, record.blockedForMs)
    state.hasFailures = record !== undefined
    state.needsCare = state.hasFailures || this.blockedForMs(state.prefix) > 0
  }

  #learnBlock(prefix: string, blockedForMs: number): void {
    if (blockedForMs > 0) this.#blocks.set(prefix, performance.now() + blockedForMs)
  }
}

const UNWATCHED = {
  needsCare: true,
  hasFailures: false,
  changedAt: -Infinity,
}

/** The state of a key that was only just read: its prefix is watched from its first use on. */
export const unwatched = (prefix: string): PrefixState => ({ ...UNWATCHED, prefix, usedIn: 0 })
