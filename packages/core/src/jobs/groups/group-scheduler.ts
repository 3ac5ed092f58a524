/**
 * Which groups' jobs this process fetches next: the limits of each group, and the jobs that wait aside, which are
 * claimed by their group in turns.
 */
import type { Database } from '../../postgres/pools.ts'
import type { Job, Lane } from '../job.ts'
import { claimAside } from '../pg-boss/claim-jobs.ts'
import type { QueueTable } from '../pg-boss/queue-table.ts'
import type { Outcome } from '../worker.ts'
import { Circuits } from './circuits.ts'
import { belowLimit, claimLimits, type ClaimLimit } from './claim-limits.ts'
import { successOf } from './group-answers.ts'
import { GroupLimits, type Allowed } from './group-limits.ts'
import { GroupMoves } from './group-moves.ts'
import { GroupStates } from './group-states.ts'
import { RefreshTimes } from './refresh-times.ts'
import { listJobGroups } from '../pg-boss/groups-table.ts'
import { RestrictedClaims } from './ordered-or-limited-claims.ts'

interface Parts {
  queue: string
  table: QueueTable
  withoutGroups: boolean
  /** See `Worker.read`. */
  read: string | undefined
  windows: Record<Lane, number>
  database: Pick<Database, 'workerPool' | 'background'>
  log: { error(details: object, message: string): void }
  /** Names this process in the jobs that it claims. */
  owner: string
  /** Whether this process receives notifications. */
  isNotified: () => boolean
  /** The table of groups has changed: other processes read it again. */
  changed: () => void
  /** The table of groups has changed: there may be jobs to claim. */
  wake: () => void
  /** Jobs have come back into the lanes. */
  moved: () => void
  /** There may be jobs of restricted groups to claim. */
  wakeClaims: () => void
}

const ALL_EVERY_MS = 60_000

export class GroupScheduler {
  #parts: Parts
  #limits: GroupLimits
  #states = new GroupStates()
  #moves: GroupMoves
  #circuits: Circuits
  /** The jobs of groups whose restrictions hold over all processes. */
  readonly restricted: RestrictedClaims
  #refreshTimes = new RefreshTimes()
  /** What was seen as the table of groups was read last. */
  #seen: string | null = null
  /** When all of it is read again. */
  #allAt = 0
  #exist = false
  #isTurnOfOthers = false

  constructor(parts: Parts) {
    const { queue, database } = parts
    this.#parts = parts
    this.#limits = new GroupLimits(parts.windows)
    this.#moves = new GroupMoves({
      ...parts,
      background: (work, limit) => database.background(work, limit),
      states: this.#states,
      refreshSoon: () => this.refreshSoon(),
    })
    this.#circuits = new Circuits(this.#limits, (group) => this.#moves.hasUnwritten(group))
    const { read, owner, isNotified, wakeClaims } = parts
    const db = database.workerPool.prepared
    this.restricted = new RestrictedClaims({
      queue,
      read,
      db,
      states: this.#states,
      owner,
      isNotified,
      wake: wakeClaims,
    })
  }

  /** Whether this queue's jobs have groups. */
  get exist(): boolean {
    return this.#exist
  }

  /** The table of groups has changed. */
  refreshSoon(): void {
    this.#refreshTimes.soon()
    this.#parts.wake()
  }

  /** There may be jobs to claim of these groups; `null`: of any restricted one. */
  groupsReady(groups: readonly string[] | null): void {
    if (groups === null) this.#states.allReady()
    // A group that is not known yet has just become restricted.
    else if (!this.#states.haveNew(groups)) this.#refreshTimes.soon()
    this.#parts.wakeClaims()
  }

  /**
   * Reads the table of groups where that is due, and starts what follows from it. `isIdle`: no job has come
   * for a while.
   */
  async refresh(isIdle: boolean): Promise<void> {
    const { withoutGroups, isNotified } = this.#parts
    if (withoutGroups || !this.#refreshTimes.isDue(performance.now())) return
    this.#refreshTimes.began(performance.now())
    try {
      await this.#readGroups()
      this.restricted.refreshed()
      this.#circuits.adopt(this.#states.open)
    } finally {
      const table = { hasRows: this.#states.size > 0, isNotified: isNotified(), isIdle }
      this.#refreshTimes.ended(performance.now(), table)
    }
    this.#moves.run()
  }

  /** Rows that were deleted elsewhere show only as all are read. */
  async #readGroups(): Promise<void> {
    const { queue, database } = this.#parts
    const areAll = performance.now() >= this.#allAt
    const { rows, seen } = await listJobGroups(
      database.workerPool,
      queue,
      areAll ? null : this.#seen,
    )
    this.#states.apply(rows, areAll || this.#seen === null)
    this.#seen = seen
    if (areAll) this.#allAt = performance.now() + ALL_EVERY_MS
  }

  /** How long a refresh after a change still waits; `Infinity` without a change. */
  refreshInMs(): number {
    if (this.#parts.withoutGroups) return Infinity
    return this.#refreshTimes.pendingInMs(performance.now())
  }

  /** How many jobs of each group a fetch may bring, at most `share`: none of those that belong aside. */
  allow(lane: Lane, share: number, uncontended: boolean): Allowed {
    const allowed = this.#limits.allow(lane, share, performance.now(), uncontended)
    for (const group of this.#states.inLanes) allowed.caps[group] = 0
    for (const group of this.#circuits.openedHere) allowed.caps[group] = 0
    return allowed
  }

  /** Whether the free slots of the group are worth a fetch. */
  hasRoom(group: string, lane: Lane, uncontended: boolean): boolean {
    return this.#limits.hasRoom(group, lane, performance.now(), uncontended)
  }

  /** Whether the jobs of the group belong aside: one that was fetched all the same goes there. */
  belongsAside(group: string): boolean {
    return this.#states.belongsAside(group) || this.#circuits.openedHere.has(group)
  }

  /** Groups that have all the slots of the first lane that they may have. */
  full(): string[] {
    return this.#limits.full('first', performance.now())
  }

  /** Whether a job that was fetched may begin; else it goes back. */
  admit({ group, grant }: Job, lane: Lane, uncontended: boolean): boolean {
    if (group === null) return true
    this.#exist = true
    // A publish has claimed it.
    if (grant) this.#states.began(group)
    return this.#limits.admit(group, lane, performance.now(), uncontended)
  }

  /** Starts a job of the group without regard to its limits. */
  begin(group: string): void {
    this.#limits.begin(group, performance.now())
  }

  ended(job: Job, outcome: Outcome, tookMs: number): void {
    const { group } = job
    if (group === null) return
    if (job.grant) this.restricted.ended(job, outcome, tookMs)
    const change = this.#limits.ended(group, successOf(outcome), tookMs, performance.now())
    if (change === undefined) return
    this.#circuits.changed(group, change === 'opened')
    this.#moves.circuitChanged(group, change === 'opened')
  }

  /** When there may be jobs aside to claim, in milliseconds from now. */
  claimableInMs(): number {
    return Math.max(0, this.#states.claimableFrom() - performance.now())
  }

  /**
   * Claims jobs that wait aside, at most as many as there is room for in the two lanes. Where there are some of
   * restricted groups and of others, they take turns.
   */
  async claimAside(room: Record<Lane, number>): Promise<Job[]> {
    const { windows } = this.#parts
    const limits = claimLimits(this.#states, this.#limits, windows, room, performance.now())
    const restricted = limits.filter(({ isRestricted }) => isRestricted)
    const others = limits.filter(({ isRestricted }) => !isRestricted)
    this.#isTurnOfOthers = !this.#isTurnOfOthers
    if (this.#isTurnOfOthers) {
      const jobs = await this.#claimOthers(others)
      return jobs.length > 0 ? jobs : await this.#claimRestricted(restricted)
    }
    const jobs = await this.#claimRestricted(restricted)
    return jobs.length > 0 ? jobs : await this.#claimOthers(others)
  }

  async #claimOthers(limits: ClaimLimit[]): Promise<Job[]> {
    if (limits.length === 0) return []
    const { table, database, owner } = this.#parts
    const jobs: Job[] = await claimAside(database.workerPool.prepared, table, limits, owner)
    const now = performance.now()
    for (const group of belowLimit(limits, jobs)) this.#states.empty(group, now)
    this.#claimed(jobs)
    return jobs
  }

  async #claimRestricted(limits: ClaimLimit[]): Promise<Job[]> {
    const jobs = await this.restricted.claim(limits)
    this.#claimed(jobs)
    return jobs
  }

  #claimed(jobs: Job[]): void {
    const now = performance.now()
    for (const { group } of jobs) {
      if (group === null) continue
      this.#exist = true
      this.#states.claimed(group)
      this.#states.began(group)
      this.#limits.begin(group, now)
    }
  }

  /** Whether an attempt of this ordered group is under way here: this process claims the next one. */
  claimsNext(group: string): boolean {
    return this.#states.isRunning(group)
  }

  /** Whether only claims of its jobs aside make attempts of the group. */
  isCircuitOpen(group: string | null): boolean {
    return group !== null && this.#limits.isOpen(group)
  }

  stop(): Promise<void> {
    return this.#moves.stop()
  }
}
