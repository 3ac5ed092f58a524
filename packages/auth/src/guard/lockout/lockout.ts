/**
 * Blocks of key prefixes. Failures are counted in Postgres, exactly and for all processes; here
 * stands what this process knows of them, so that a request with a good key need not ask.
 */
import { uuidv7, type Db } from '@svc/core/internal'
import {
  countFailure,
  findFailureChanges,
  findFailures,
  forgetFailures,
  type PrefixRecord,
  type RateLimit,
} from '../../tables/lockouts.ts'
import { BoundedMap } from '../keys/bounded-map.ts'
import { gathered } from '../keys/batch-lookup.ts'

/** What is known of a prefix that keys in use share. */
export interface PrefixState {
  readonly prefix: string
  /** Blocked, with failures to forget, or not watched: the way without a query is closed. */
  needsCare: boolean
  hasFailures: boolean
  /** How many changes of it were read: what was asked before the last of them may be older. */
  changes: number
  /** End of its block, by the limiter's clock. */
  blockedUntil: number
  /** The round in which a key of it was last used. */
  usedIn: number
}

export interface LimiterOptions {
  /** For the reading of changes. @default db */
  forPoll?: Db
  /** Milliseconds of a monotonic clock. @default performance.now */
  now?: () => number
}

/** Prefixes whose keys nobody used for so many rounds of the poll (about a minute) are let go. */
const ROUNDS_KEPT = 150
/** How many prefixes each round looks at for that: its cost does not grow with their number. */
const LOOKED_AT = 1000
const BLOCKS_KEPT = 10_000

export class RateLimiter {
  /** Goes up with each reading of the changes. */
  round = 0
  #db: Db
  #forStrangers: Db
  #forPoll: Db
  #limit: RateLimit
  #now: () => number
  #find: (prefix: string) => Promise<PrefixRecord | undefined>
  #watched = new Map<string, PrefixState>()
  /** First readings of prefixes that are under way. */
  #arriving = new Map<string, { state: PrefixState; read: Promise<PrefixState> }>()
  /** Blocks of prefixes that may have no good key. */
  #blocks = new BoundedMap<number>(BLOCKS_KEPT)
  #snapshot: string | null = null
  #unlooked: Iterator<PrefixState> | undefined

  /** `forStrangers`: where failed attempts queue, so that good keys need not wait for them. */
  constructor(
    db: Db,
    forStrangers: Db,
    limit: RateLimit,
    { forPoll = db, now = () => performance.now() }: LimiterOptions = {},
  ) {
    this.#db = db
    this.#forStrangers = forStrangers
    this.#forPoll = forPoll
    this.#limit = limit
    this.#now = now
    this.#find = gathered((prefixes) => findFailures(db, prefixes))
  }

  /** How long a prefix is blocked still, as far as this process knows, in milliseconds. */
  blockedForMs(prefix: string): number {
    const until = this.#watched.get(prefix)?.blockedUntil ?? 0
    return Math.max(0, Math.max(until, this.#blocks.get(prefix) ?? 0) - this.#now())
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
    if (blockedForMs > 0) this.#blocks.set(prefix, this.#now() + blockedForMs)
    this.#tell({ prefix, blockedForMs })
    return isCounted ? 0 : Math.max(1, blockedForMs)
  }

  /**
   * For a good key that is about to pass: watches its prefix from now on and forgets the failures
   * of it, unless it is blocked. Returns the one state that all keys of the prefix are to share.
   */
  async care(prefix: string): Promise<PrefixState> {
    const state = this.#watched.get(prefix) ?? (await this.#watch(prefix))
    state.usedIn = this.round
    if (state.hasFailures && this.blockedForMs(prefix) === 0) await this.#forget(state)
    return state
  }

  /** Reads what other processes have counted since the last reading. */
  async refresh(): Promise<void> {
    this.round++
    this.#letUnusedGo()
    const since = this.#snapshot
    const { snapshot, isSetBack, records } = await findFailureChanges(this.#forPoll, since)
    // No change was read before the first snapshot, and what was read before a restore is of another
    // database.
    if (since === null || isSetBack) this.#letAllGo()
    this.#snapshot = snapshot
    for (const record of records) this.#tell(record)
  }

  /** A reading that is under way may be older than this change: it is told, too. */
  #tell(record: PrefixRecord): void {
    const { prefix } = record
    const state = this.#watched.get(prefix)
    if (state) this.#learn(state, record)
    const arriving = this.#arriving.get(prefix)
    if (arriving) this.#learn(arriving.state, record)
  }

  #learn(state: PrefixState, { blockedForMs }: PrefixRecord): void {
    state.changes++
    state.hasFailures = true
    state.needsCare = true
    if (blockedForMs > 0) state.blockedUntil = this.#now() + blockedForMs
  }

  /** A change that was read meanwhile may be of a later failure: then the state stays as it is. */
  async #forget(state: PrefixState): Promise<void> {
    const { changes, prefix } = state
    const blockedForMs = await forgetFailures(this.#db, prefix)
    if (blockedForMs > 0) this.#learn(state, { prefix, blockedForMs })
    if (state.changes !== changes) return
    state.hasFailures = false
    state.needsCare = false
  }

  #watch(prefix: string): Promise<PrefixState> {
    const arriving = this.#arriving.get(prefix)
    if (arriving) return arriving.read
    const state: PrefixState = { ...UNWATCHED, prefix, usedIn: this.round }
    const read = this.#readFirst(state).finally(() => {
      if (this.#arriving.get(prefix)?.state === state) this.#arriving.delete(prefix)
    })
    this.#arriving.set(prefix, { state, read })
    return read
  }

  async #readFirst(state: PrefixState): Promise<PrefixState> {
    const { prefix } = state
    const record = await this.#find(prefix)
    // What was let go while it was read belongs to another snapshot.
    if (this.#arriving.get(prefix)?.state !== state) return this.#watch(prefix)
    this.#watched.set(prefix, state)
    if (record) this.#learn(state, record)
    else if (state.changes === 0) state.needsCare = false
    return state
  }

  #letAllGo(): void {
    for (const state of this.#watched.values()) state.needsCare = true
    this.#watched.clear()
    this.#arriving.clear()
  }

  #letUnusedGo(): void {
    this.#unlooked ??= this.#watched.values()
    for (let looked = 0; looked < LOOKED_AT; looked++) {
      const { done, value: state } = this.#unlooked.next()
      if (done) {
        this.#unlooked = undefined
        return
      }
      if (state.usedIn >= this.round - ROUNDS_KEPT) continue
      this.#watched.delete(state.prefix)
      state.needsCare = true
    }
  }
}

const UNWATCHED = {
  needsCare: true,
  hasFailures: false,
  changes: 0,
  blockedUntil: 0,
}

/** The state of a key that was only just read: its prefix is watched from its first use on. */
export const unwatched = (prefix: string): PrefixState => ({ ...UNWATCHED, prefix, usedIn: 0 })
