/**
 * Writes circuits that have changed to the table of groups, and moves the waiting jobs of groups, in the background:
 * aside, so that no fetch passes them, and back into the lanes.
 */
import type { Database } from '../../postgres/pools.ts'
import type { Db } from '../../postgres/transaction.ts'
import { moveJobs } from '../pg-boss/waiting-jobs.ts'
import type { GroupStates } from './group-states.ts'
import { deleteUnusedGroups, setCircuits } from '../pg-boss/groups-table.ts'
import { isLockConflict } from '../../migrations/lock-retries.ts'
import { splitOnError } from '../../postgres/split-batch.ts'

interface Parts {
  queue: string
  background: Database['background']
  states: GroupStates
  log: { error(details: object, message: string): void }
  /** The table of groups has changed: other processes read it again. */
  changed: () => void
  refreshSoon: () => void
  /** Jobs have come back into the lanes. */
  moved: () => void
}

/** The shortest pause between two writes of circuits: each has all processes read the table of groups. */
const WRITE_EVERY_MS = 250
/**
 * How long a transaction waits for the row of a group, which a transaction of the host may hold for as long
 * as it takes, how long that group is then left out, and how many such circuits are tried again at a time.
 */
const LOCK_MS = 100
const LOCKED_MS = 1000
const MOST_LOCKED = 4
/** Groups whose jobs one statement looks for. */
const MOST_GROUPS = 1000

export class GroupMoves {
  #parts: Parts
  /** Circuits that have changed here, and are not in the table yet. */
  #circuits = new Map<string, boolean>()
  #writeNotBefore = 0
  #writeTimer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  /** When the rows of groups were last found to be held by others. */
  #lockedAt = new Map<string, number>()
  #stopped = false
  /** Whether the last run has failed. */
  #hasFailed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  circuitChanged(group: string, isOpen: boolean): void {
    this.#circuits.set(group, isOpen)
    this.#writeSoon()
  }

  hasUnwritten(group: string): boolean {
    return this.#circuits.has(group)
  }

  run(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Circuits that wait for the end of the pause are written at once: other processes live by them. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#writeTimer)
    await this.#running
    if (!this.#hasFailed) await this.#try(() => this.#writeCircuits(true))
  }

  async #run(): Promise<void> {
    await this.#try(async () => {
      await this.#writeCircuits()
      await this.#move()
    })
    if (this.#circuits.size > 0 && !this.#hasFailed) this.#writeSoon()
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      this.#hasFailed = false
      await work()
    } catch (error) {
      this.#hasFailed = true
      const about = { err: error, queue: this.#parts.queue }
      this.#parts.log.error(about, 'could not move the waiting jobs of a group; it tries again')
    }
  }

  #writeSoon(): void {
    if (this.#writeTimer !== undefined || this.#stopped) return
    const waitMs = Math.max(0, this.#writeNotBefore - performance.now())
    this.#writeTimer = setTimeout(() => {
      this.#writeTimer = undefined
      this.run()
    }, waitMs)
  }

  async #writeCircuits(isLast = false): Promise<void> {
    const { changed, refreshSoon } = this.#parts
    if (this.#circuits.size === 0 || (this.#stopped && !isLast)) return
    if (performance.now() < this.#writeNotBefore && !isLast) return
    this.#writeNotBefore = performance.now() + WRITE_EVERY_MS
    const hasWritten = await this.#apart([...this.#circuits.keys()], (groups) =>
      this.#setCircuits(groups),
    )
    if (!hasWritten) return
    changed()
    refreshSoon()
  }

  async #setCircuits(groups: string[]): Promise<void> {
    const { queue } = this.#parts
    const changes = new Map(groups.map((group) => [group, this.#circuits.get(group)]))
    await this.#background(async (db) => {
      for (const isOpen of [true, false]) {
        const those = groups.filter((group) => changes.get(group) === isOpen)
        await setCircuits(db, queue, those.toSorted(), isOpen)
      }
    })
    for (const [group, isOpen] of changes) {
      if (this.#circuits.get(group) === isOpen) this.#circuits.delete(group)
    }
  }

  /**
   * Runs a transaction for these groups, or one for each half and so on where others hold rows of some.
   * Those are left out for a while, and keep no others waiting; then each is tried alone. Returns whether it
   * has run for any.
   */
  async #apart(groups: string[], run: (groups: string[]) => Promise<unknown>): Promise<boolean> {
    const now = performance.now()
    const free = groups.filter((group) => !this.#lockedAt.has(group))
    const again = groups.filter((group) => now - (this.#lockedAt.get(group) ?? now) > LOCKED_MS)
    const batches = [free, ...again.slice(0, MOST_LOCKED).map((group) => [group])]
    let hasRun = false
    for (const batch of batches) {
      if (batch.length === 0) continue
      const { parts, failed } = await splitOnError(batch, run, (error) => !isLockConflict(error))
      const ran = parts.flatMap(({ items }) => items)
      for (const group of ran) this.#lockedAt.delete(group)
      hasRun ||= ran.length > 0
      for (const { items, error } of failed) {
        if (!isLockConflict(error)) throw error
        for (const group of items) this.#lockedAt.set(group, performance.now())
      }
    }
    return hasRun
  }

  #background<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.#parts.background(work, { lockMs: LOCK_MS })
  }

  async #move(): Promise<void> {
    const { queue, states, moved } = this.#parts
    for (const groups of portionsOf([...states.inLanes])) {
      if (await this.#moveAll(groups)) states.areAside(groups)
    }
    for (const groups of portionsOf([...states.back])) {
      await this.#moveAll(groups, moved)
      const gone = await this.#background((db) => deleteUnusedGroups(db, queue, groups))
      // The table may have been read meanwhile.
      states.forget(gone.filter((group) => states.back.has(group)))
    }
  }

  /**
   * Moves in portions, each in a transaction of its own. Returns whether all are moved. A job that is locked is
   * being claimed: its settlement puts it where it belongs.
   */
  async #moveAll(groups: string[], moved = () => {}): Promise<boolean> {
    const { queue } = this.#parts
    for (let hasMore = true; hasMore && !this.#stopped;) {
      const portion = await this.#background((db) => moveJobs(db, queue, groups))
      hasMore = portion.hasMore
      if (portion.moved > 0) moved()
    }
    return !this.#stopped
  }
}

const portionsOf = (groups: string[]): string[][] =>
  Array.from({ length: Math.ceil(groups.length / MOST_GROUPS) }, (_, n) =>
    groups.slice(n * MOST_GROUPS, (n + 1) * MOST_GROUPS),
  )
