/**
 * Blocks of key prefixes after failed attempts. Failures are counted in Postgres, exactly and for all
 * processes. This process keeps a copy of what it has read of them, so that a request with a valid
 * key needs no query.
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
import { batchLookup } from '../batch-lookup.ts'
import { BoundedMap } from '../bounded-map.ts'

/** The state of a prefix as this process has read it. Cached keys with the prefix share it. */
export interface PrefixState {
  readonly prefix: string
  /** It is blocked, has failures to reset, or is not watched: the guard must query the database. */
  needsDatabaseCheck: boolean
  hasFailures: boolean
  /** How many changes of it were read: a query that was sent before the last one may be outdated. */
  changes: number
  /** End of its block, by the clock of `Lockout`. */
  blockedUntil: number
  /** Written by the guard: the tick of `Lockout` in which a key of this prefix was last used. */
  lastUsedTick: number
}

export interface LockoutOptions {
  /** The database for the poll for changes. @default db */
  pollDb?: Db
  /** Milliseconds of a monotonic clock. @default performance.now */
  now?: () => number
}

/** After how many ticks without a use a prefix is no longer watched (about a minute). */
const TICKS_KEPT = 150
/** How many prefixes each tick examines for that: its cost does not grow with their number. */
const EXAMINED_PER_TICK = 1000
const MAX_BLOCKS = 10_000

export class Lockout {
  /** Goes up with each poll of changes. */
  tick = 0
  #db: Db
  #lookupDb: Db
  #pollDb: Db
  #limit: RateLimit
  #now: () => number
  #find: (prefix: string) => Promise<PrefixRecord | undefined>
  #watched = new Map<string, PrefixState>()
  /** Prefixes that are being read for the first time. */
  #loading = new Map<string, { state: PrefixState; read: Promise<PrefixState> }>()
  /** Blocks of prefixes that may have no valid key. */
  #blocks = new BoundedMap<number>(MAX_BLOCKS)
  #snapshot: string | null = null
  #examined: Iterator<PrefixState> | undefined

  /** `lookupDb`: a limited pool for failed attempts, so that valid keys need not wait for them. */
  constructor(
    db: Db,
    lookupDb: Db,
    limit: RateLimit,
    { pollDb = db, now = () => performance.now() }: LockoutOptions = {},
  ) {
    this.#db = db
    this.#lookupDb = lookupDb
    this.#pollDb = pollDb
    this.#limit = limit
    this.#now = now
    this.#find = batchLookup((prefixes) => findFailures(db, prefixes))
  }

  /** How long a prefix is still blocked, by the state in this process, in milliseconds. */
  blockedForMs(prefix: string): number {
    const until = this.#watched.get(prefix)?.blockedUntil ?? 0
    return Math.max(0, Math.max(until, this.#blocks.get(prefix) ?? 0) - this.#now())
  }

  /**
   * Counts a failed attempt.
   *
   * @returns 0 where it was counted, else for how long the prefix was blocked already, in milliseconds
   */
  async recordFailure(prefix: string): Promise<number> {
    const { isCounted, blockedForMs } = await countFailure(
      this.#lookupDb,
      prefix,
      uuidv7(),
      this.#limit,
    )
    if (blockedForMs > 0) this.#blocks.set(prefix, this.#now() + blockedForMs)
    this.#apply({ prefix, blockedForMs })
    return isCounted ? 0 : Math.max(1, blockedForMs)
  }

  /**
   * Call this before a valid key passes. It watches the prefix of the key from now on, and deletes
   * the failures of the prefix unless it is blocked. Returns the state that all keys of the prefix
   * share.
   */
  async recordSuccess(prefix: string): Promise<PrefixState> {
    const state = this.#watched.get(prefix) ?? (await this.#watch(prefix))
    state.lastUsedTick = this.tick
    if (state.hasFailures && this.blockedForMs(prefix) === 0) await this.#forget(state)
    return state
  }

  /** Reads what other processes have counted since the last poll. */
  async refresh(): Promise<void> {
    this.tick++
    this.#unwatchUnused()
    const since = this.#snapshot
    const { snapshot, isRestored, records } = await findFailureChanges(this.#pollDb, since)
    // No change was read before the first snapshot, and after a restore the copy is of another
    // state.
    if (since === null || isRestored) this.#unwatchAll()
    this.#snapshot = snapshot
    for (const record of records) this.#apply(record)
  }

  /** A first reading that is pending may be older than this change, which applies to it as well. */
  #apply(record: PrefixRecord): void {
    const { prefix } = record
    const state = this.#watched.get(prefix)
    if (state) this.#update(state, record)
    const loading = this.#loading.get(prefix)
    if (loading) this.#update(loading.state, record)
  }

  #update(state: PrefixState, { blockedForMs }: PrefixRecord): void {
    state.changes++
    state.hasFailures = true
    state.needsDatabaseCheck = true
    if (blockedForMs > 0) state.blockedUntil = this.#now() + blockedForMs
  }

  /** A change that was read meanwhile may be of a later failure: then the state stays as it is. */
  async #forget(state: PrefixState): Promise<void> {
    const { changes, prefix } = state
    const blockedForMs = await forgetFailures(this.#db, prefix)
    if (blockedForMs > 0) this.#update(state, { prefix, blockedForMs })
    if (state.changes !== changes) return
    state.hasFailures = false
    state.needsDatabaseCheck = false
  }

  #watch(prefix: string): Promise<PrefixState> {
    const loading = this.#loading.get(prefix)
    if (loading) return loading.read
    const state: PrefixState = { ...UNWATCHED, prefix, lastUsedTick: this.tick }
    const read = this.#readFirst(state).finally(() => {
      if (this.#loading.get(prefix)?.state === state) this.#loading.delete(prefix)
    })
    this.#loading.set(prefix, { state, read })
    return read
  }

  async #readFirst(state: PrefixState): Promise<PrefixState> {
    const { prefix } = state
    const record = await this.#find(prefix)
    // A state that was dropped while it was read belongs to an earlier snapshot.
    if (this.#loading.get(prefix)?.state !== state) return this.#watch(prefix)
    this.#watched.set(prefix, state)
    if (record) this.#update(state, record)
    else if (state.changes === 0) state.needsDatabaseCheck = false
    return state
  }

  #unwatchAll(): void {
    for (const state of this.#watched.values()) state.needsDatabaseCheck = true
    this.#watched.clear()
    this.#loading.clear()
  }

  #unwatchUnused(): void {
    this.#examined ??= this.#watched.values()
    for (let examined = 0; examined < EXAMINED_PER_TICK; examined++) {
      const { done, value: state } = this.#examined.next()
      if (done) {
        this.#examined = undefined
        return
      }
      if (state.lastUsedTick >= this.tick - TICKS_KEPT) continue
      this.#watched.delete(state.prefix)
      state.needsDatabaseCheck = true
    }
  }
}

const UNWATCHED = {
  needsDatabaseCheck: true,
  hasFailures: false,
  changes: 0,
  blockedUntil: 0,
}

/**
 * The state of a prefix whose key was only just read. The prefix is watched from the first use of
 * the key on.
 */
export const unwatchedPrefix = (prefix: string): PrefixState => ({
  ...UNWATCHED,
  prefix,
  lastUsedTick: 0,
})
