/**
 * Parks, in the background, the waiting jobs of groups that fetches exclude, so that no fetch scans
 * them: of held and restricted groups, of groups with an open circuit, and of groups with a long
 * backlog. Writes circuits that have changed to the table of groups first.
 */
import type { Database } from '../../postgres/pools.ts'
import type { Db } from '../../postgres/transaction.ts'
import { parkWaiting, SCAN_START, type Backlog, type ScanPosition } from '../pg-boss/park-jobs.ts'
import type { GroupStates } from './group-states.ts'
import { recordParked, setCircuits } from '../pg-boss/groups-table.ts'
import { isLockConflict } from '../../migrations/lock-retries.ts'
import { splitOnError } from '../../postgres/split-batch.ts'
import { endParking } from '../pg-boss/restrictions-table.ts'

interface Parts {
  queue: string
  background: Database['background']
  states: GroupStates
  log: { error(details: object, message: string): void }
  /** The table of groups has changed: other processes read it again. */
  changed: () => void
  refreshSoon: () => void
}

/** The shortest pause between two writes of circuits: each has all processes read the table of groups. */
const WRITE_EVERY_MS = 250
/**
 * How often new jobs of groups with an open circuit are parked. The pause grows while there are
 * none.
 */
const PARK_EVERY_MS = 1000
const PARK_EVERY_AT_MOST_MS = 5000
/** The same where this process knows that jobs are due. */
const PARK_DUE_EVERY_MS = 500
/** How many times its own duration such a scan makes the next one wait. */
const PAUSE_AFTER_SCAN = 20
/**
 * How long a transaction waits for the row of a group, which a transaction of the host may hold for as long
 * as it takes, how long that group is then left out, and how many such circuits are tried again at a time.
 */
const LOCK_MS = 100
const LOCKED_MS = 1000
const MOST_LOCKED = 4

export class BacklogParking {
  #parts: Parts
  /** Circuits that have changed here, and are not in the table yet. */
  #circuits = new Map<string, boolean>()
  #writeNotBefore = 0
  #writeTimer: NodeJS.Timeout | undefined
  /** Groups whose backlog is to be parked, so that jobs of other groups are fetched. */
  #backlogs = new Set<string>()
  #running: Promise<void> | undefined
  /** When the rows of groups were last found to be held by others. */
  #lockedAt = new Map<string, number>()
  #parkAt = 0
  #parkedAt = -Infinity
  #parkNotBefore = 0
  #parkEveryMs = PARK_EVERY_MS
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

  /** Not while jobs are being parked: fetches will be shorter after that anyway. */
  parkBacklogs(groups: readonly string[]): void {
    if (groups.length === 0 || this.#running) return
    for (const group of groups) this.#backlogs.add(group)
    this.run()
  }

  /** Jobs are due, perhaps of groups with an open circuit. */
  parkDue(): void {
    this.#parkAt = Math.min(this.#parkAt, this.#parkedAt + PARK_DUE_EVERY_MS)
    this.run()
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
      await this.#parkHeld()
      await this.#parkLongBacklogs()
      await this.#parkOpen()
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
      this.#parts.log.error(about, 'could not park the waiting jobs of a group; it tries again')
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
    const written = await this.#apart([...this.#circuits.keys()], (groups) =>
      this.#setCircuits(groups),
    )
    if (written.length === 0) return
    // Circuits may open all the time.
    this.#parkAt = Math.min(this.#parkAt, this.#parkedAt + PARK_EVERY_MS)
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
   * Those are left out for a while, and keep no others waiting; then each is tried alone. Returns the groups
   * for which it has run.
   */
  async #apart(groups: string[], run: (groups: string[]) => Promise<unknown>): Promise<string[]> {
    const now = performance.now()
    const free = groups.filter((group) => !this.#lockedAt.has(group))
    const again = groups.filter((group) => now - (this.#lockedAt.get(group) ?? now) > LOCKED_MS)
    const batches = [free, ...again.slice(0, MOST_LOCKED).map((group) => [group])]
    const done: string[] = []
    for (const batch of batches) {
      if (batch.length === 0) continue
      const { parts, failed } = await splitOnError(batch, run, (error) => !isLockConflict(error))
      const ran = parts.flatMap(({ items }) => items)
      for (const group of ran) this.#lockedAt.delete(group)
      done.push(...ran)
      for (const { items, error } of failed) {
        if (!isLockConflict(error)) throw error
        for (const group of items) this.#lockedAt.set(group, performance.now())
      }
    }
    return done
  }

  #background<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.#parts.background(work, { lockMs: LOCK_MS })
  }

  async #parkHeld(): Promise<void> {
    const { queue, states, changed, refreshSoon } = this.#parts
    const { groups } = await this.#park({ groups: states.toPark(), includesNotDue: true })
    if (groups.length === 0) return
    states.parked(groups)
    const unparked = states.unparked(groups)
    if (unparked.length === 0) return
    let hasEnded = false
    await this.#apart(
      unparked.map(({ group }) => group),
      async (some) => {
        const those = unparked.filter(({ group }) => some.includes(group))
        const isAny = await this.#background((db) => endParking(db, queue, those))
        hasEnded ||= isAny
      },
    )
    // Otherwise the next refresh of the groups would start this again.
    if (!hasEnded) return
    changed()
    refreshSoon()
  }

  async #parkLongBacklogs(): Promise<void> {
    if (this.#backlogs.size === 0) return
    const { groups } = await this.#park({ groups: [...this.#backlogs], includesNotDue: false })
    for (const group of groups) this.#backlogs.delete(group)
    this.#parts.refreshSoon()
  }

  async #parkOpen(): Promise<void> {
    const groups = this.#parts.states.open()
    const isPaused = performance.now() < Math.max(this.#parkAt, this.#parkNotBefore)
    if (groups.length === 0 || isPaused) return
    const startedAt = performance.now()
    const { parked } = await this.#park({ groups, includesNotDue: false })
    const now = performance.now()
    this.#parkedAt = now
    this.#parkEveryMs =
      parked > 0 ? PARK_EVERY_MS : Math.min(PARK_EVERY_AT_MOST_MS, this.#parkEveryMs * 2)
    this.#parkAt = now + this.#parkEveryMs
    this.#parkNotBefore = now + PAUSE_AFTER_SCAN * (now - startedAt)
    // Their groups have jobs to claim again.
    if (parked > 0) this.#parts.refreshSoon()
  }

  /**
   * Parks in portions, each in a transaction of its own. Returns how many jobs were parked, and the groups of
   * which all are.
   */
  async #park({ groups, includesNotDue }: Backlog): Promise<{ parked: number; groups: string[] }> {
    const { queue } = this.#parts
    let parked = 0
    const done = await this.#apart(groups, async (some) => {
      const backlog = { groups: some, includesNotDue }
      for (let position: ScanPosition | null = SCAN_START; position && !this.#stopped;) {
        const from: ScanPosition = position
        const portion = await this.#background(async (db: Db) => {
          const moved = await parkWaiting(db, queue, backlog, from)
          await recordParked(db, queue, moved.groups.toSorted())
          return moved
        })
        parked += portion.parked
        position = portion.next
      }
    })
    return { parked, groups: done }
  }
}
