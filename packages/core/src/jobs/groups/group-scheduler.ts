/**
 * Which groups' jobs this process claims next: the caps of each group, the groups that fetches pass
 * over, and the parked jobs that are claimed by their group, in turns.
 */
import type { Database } from '../../postgres/pools.ts'
import type { Db } from '../../postgres/transaction.ts'
import { Fairness, type Allowance } from './group-limits.ts'
import { GroupStates } from './group-states.ts'
import { forgetJobGroups, listJobGroups, noteParked, setCircuits } from './groups-table.ts'
import type { Job, Lane } from '../job.ts'
import {
  claimParked,
  parkWaiting,
  WALK_BEGINS,
  type Place,
  type Walk,
} from '../pg-boss/parked-jobs.ts'
import type { Outcome } from '../worker.ts'

interface Parts {
  queue: string
  windows: Record<Lane, number>
  database: Pick<Database, 'workerPool' | 'background'>
  log: { error(details: object, message: string): void }
  /** The table of groups has changed: other processes read it again. */
  changed(): void
  /** There may be parked jobs to claim. */
  wake(): void
}

const REFRESH_MS = 1000
/** Without rows in the table, and without a notification. */
const REFRESH_IDLE_MS = 5000
/** New jobs of a group with an open circuit are parked so often. */
const PARK_EVERY_MS = 1000
const PARK_EVERY_AT_MOST_MS = 5000
/** Groups that one statement claims parked jobs of. */
const GROUPS_PER_CLAIM = 50

export class GroupScheduler {
  #parts: Parts
  #fairness: Fairness
  #states = new GroupStates()
  /** Circuits that have changed here, and are not in the table yet. */
  #circuits = new Map<string, boolean>()
  /** Groups whose whole backlog is being parked, so that others come to their turn. */
  #parking = new Set<string>()
  #background: Promise<void> | undefined
  #parkAt = 0
  #parkEveryMs = PARK_EVERY_MS
  #refreshAt = 0
  #exist = false
  #stopped = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#fairness = new Fairness(parts.windows)
  }

  /** Whether this queue's jobs have groups. */
  get exist(): boolean {
    return this.#exist
  }

  /** The table of groups has changed. */
  stale(): void {
    this.#refreshAt = 0
    this.#parts.wake()
  }

  /** Reads the table of groups where that is due, and starts what follows from it. */
  async refresh(): Promise<void> {
    const now = performance.now()
    if (now < this.#refreshAt) return
    this.#refreshAt = Infinity
    try {
      const rows = await listJobGroups(this.#parts.database.workerPool, this.#parts.queue)
      this.#states.replace(rows)
      const openHere = new Set(rows.filter((row) => row.circuitOpen).map(({ group }) => group))
      for (const group of this.#fairness.allow('slow', 0, Date.now()).open) {
        if (!openHere.has(group) && !this.#circuits.has(group)) this.#fairness.learn(group, false)
      }
      for (const group of openHere) {
        if (!this.#circuits.has(group)) this.#fairness.learn(group, true)
      }
    } finally {
      // A notification meanwhile has set it to 0.
      const pauseMs = this.#states.size > 0 ? REFRESH_MS : REFRESH_IDLE_MS
      if (this.#refreshAt === Infinity) this.#refreshAt = performance.now() + pauseMs
    }
    this.#workInBackground()
  }

  allow(lane: Lane, room: number, uncontended: boolean): Allowance & { passedOver: string[] } {
    const allowance = this.#fairness.allow(lane, room, Date.now(), uncontended)
    const passedOver = new Set([
      ...allowance.open,
      ...this.#states.passedOver(),
      ...allowance.capped,
    ])
    return { ...allowance, passedOver: [...passedOver] }
  }

  /** Groups that fill a lane and answer quickly: others may wait behind their backlog. */
  dominant(lane: Lane): string[] {
    return this.#fairness.dominant(lane, Date.now())
  }

  /** Whether a job that was fetched may begin; else it goes back. */
  admit(group: string | null, lane: Lane, uncontended: boolean): boolean {
    if (group === null) return true
    this.#exist = true
    return this.#fairness.admit(group, lane, Date.now(), uncontended)
  }

  ended(group: string | null, outcome: Outcome, tookMs: number): void {
    if (group === null) return
    const change = this.#fairness.ended(group, successOf(outcome), tookMs, Date.now())
    if (change === undefined) return
    this.#circuits.set(group, change === 'opened')
    this.#workInBackground()
  }

  /**
   * The backlogs of these groups make fetches long: they are parked, and claimed in turns. Not while
   * others are being parked: what makes fetches long then is on its way out.
   */
  park(groups: readonly string[]): void {
    if (groups.length === 0 || this.#background) return
    for (const group of groups) this.#parking.add(group)
    this.#workInBackground()
  }

  /** When there may be parked jobs to claim, in milliseconds from now. */
  claimableInMs(): number {
    return Math.max(0, this.#states.claimableFrom() - Date.now())
  }

  /**
   * Claims parked jobs, at most as many as there is room for in the two lanes. Groups with an open
   * circuit have at most half of the slow lane together, and the others what those leave: neither
   * can keep the other from its turn.
   */
  async claimParked(room: Record<Lane, number>): Promise<Job[]> {
    const limits = this.#limits(room, Date.now())
    if (limits.length === 0) return []
    const { workerPool } = this.#parts.database
    const jobs: Job[] = await claimParked(workerPool, this.#parts.queue, limits)
    const counts = new Map<string, number>()
    for (const { group } of jobs) if (group) counts.set(group, (counts.get(group) ?? 0) + 1)
    const now = Date.now()
    const idle: string[] = []
    for (const { group, limit } of limits) {
      const count = counts.get(group) ?? 0
      if (count > 0) this.#states.claimed(group)
      if (count < limit && this.#states.empty(group, now) && count === 0) idle.push(group)
    }
    for (const { group } of jobs) if (group) this.#fairness.begin(group, now)
    if (jobs.length > 0) this.#exist = true
    await forgetJobGroups(workerPool, this.#parts.queue, idle)
    return jobs
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#background
  }

  #limits(room: Record<Lane, number>, now: number): { group: string; limit: number }[] {
    const claimable = this.#states.claimable(now)
    const open = claimable.filter(({ isOpen }) => isOpen).map(({ group }) => group)
    const closed = claimable.filter(({ isOpen }) => !isOpen).map(({ group }) => group)
    const limits: { group: string; limit: number }[] = []
    let left = room.slow + room.fresh
    const add = (group: string, limit: number) => {
      if (limit < 1 || limits.length >= GROUPS_PER_CLAIM) return 0
      limits.push({ group, limit })
      left -= limit
      return limit
    }
    const { slow } = this.#parts.windows
    const halfOfLane = Math.max(1, Math.floor(slow / 2))
    let openLeft = Math.min(halfOfLane - this.#fairness.openInFlight(), room.slow)
    // With one place the groups whose endpoints answer come first.
    if (closed.length > 0 && openLeft === left) openLeft--
    const most = Math.max(1, Math.floor(slow / 8))
    const each = Math.max(1, Math.min(most, Math.floor(halfOfLane / Math.max(1, open.length))))
    for (const group of open) {
      openLeft -= add(group, Math.min(openLeft, each - this.#fairness.inFlightOf(group)))
    }
    const lane = room.fresh > 0 ? 'fresh' : 'slow'
    for (const group of closed) {
      const cap = this.#fairness.capOf(group, lane, now, closed.length === 1)
      add(group, Math.min(left, cap - this.#fairness.inFlightOf(group)))
    }
    return limits
  }

  #workInBackground(): void {
    this.#background ??= this.#work().finally(() => {
      this.#background = undefined
    })
  }

  async #work(): Promise<void> {
    try {
      await this.#writeCircuits()
      await this.#parkDue()
    } catch (error) {
      const about = { err: error, queue: this.#parts.queue }
      this.#parts.log.error(about, 'the backlog of a failing webhook could not be parked')
    }
  }

  async #writeCircuits(): Promise<void> {
    while (this.#circuits.size > 0 && !this.#stopped) {
      const changes = [...this.#circuits]
      await this.#parts.database.background(async (db) => {
        for (const isOpen of [true, false]) {
          const groups = changes.filter(([, open]) => open === isOpen).map(([group]) => group)
          await setCircuits(db, this.#parts.queue, groups.toSorted(), isOpen)
        }
      })
      for (const [group, isOpen] of changes) {
        if (this.#circuits.get(group) === isOpen) this.#circuits.delete(group)
      }
      this.#parkAt = 0
      this.#parts.changed()
      this.stale()
    }
  }

  async #parkDue(): Promise<void> {
    const toWalk = this.#states.toWalk()
    if (toWalk.length > 0) {
      await this.#parkAll({ groups: toWalk, andNotDue: true })
      this.#states.walked(toWalk)
    }
    const backlogs = [...this.#parking]
    if (backlogs.length > 0) {
      await this.#parkAll({ groups: backlogs, andNotDue: false })
      for (const group of backlogs) this.#parking.delete(group)
      this.stale()
    }
    const open = this.#states.open()
    if (open.length === 0 || performance.now() < this.#parkAt) return
    const startedAt = performance.now()
    const parked = await this.#parkAll({ groups: open, andNotDue: false })
    const tookMs = performance.now() - startedAt
    this.#parkEveryMs =
      parked > 0 ? PARK_EVERY_MS : Math.min(PARK_EVERY_AT_MOST_MS, this.#parkEveryMs * 2)
    this.#parkAt = performance.now() + Math.max(this.#parkEveryMs, 20 * tookMs)
    if (parked > 0) this.#parts.wake()
  }

  /** In portions, each in a transaction of its own. Returns how many jobs were parked. */
  async #parkAll(walk: Walk): Promise<number> {
    const { queue, database } = this.#parts
    let parked = 0
    for (let place: Place | null = WALK_BEGINS; place && !this.#stopped;) {
      const from: Place = place
      const portion = await database.background(async (db: Db) => {
        const moved = await parkWaiting(db, queue, walk, from)
        await noteParked(db, queue, moved.groups.toSorted())
        return moved
      })
      parked += portion.parked
      place = portion.next
    }
    return parked
  }
}

/** `null`: says nothing about the endpoint. */
function successOf(outcome: Outcome): boolean | null {
  if (outcome.kind === 'completed') return true
  return outcome.kind === 'failed' || outcome.kind === 'dead' ? false : null
}
